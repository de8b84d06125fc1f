#!/usr/bin/env node
import { enableCompileCache } from './compile-cache.ts';

enableCompileCache(process.env);

// Loaded only now: what is loaded before is compiled without the cache.
await import('./main.ts');
