#!/usr/bin/env node
import { findCompileCache, useCompileCache } from './compile-cache.ts';

const folder = findCompileCache(process.env);
if (folder !== undefined) useCompileCache(folder);

// Loaded only now: what is loaded before is compiled without the cache.
import('./main.ts');
