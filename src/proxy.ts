import { serveSandboxes } from './turns/sandbox/proxy-server.ts';

// The program of `turns/sandbox/proxy.ts`, which starts it in the folder of its sockets with the marker of the run.
serveSandboxes(process.argv[2] ?? '');
