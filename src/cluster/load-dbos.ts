import type * as dbos from '@dbos-inc/dbos-sdk';
import { explainMissing } from '../storage/postgres/load-packages.ts';

/** Loads DBOS, which is installed only by those who use a database. */
export const loadDbos = (): Promise<typeof dbos> =>
  import('@dbos-inc/dbos-sdk').catch((cause) => Promise.reject(explainMissing('@dbos-inc/dbos-sdk', cause)));
