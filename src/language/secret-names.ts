/** True if a variable has the name of a secret. */
export const isSecretName = (name: string): boolean =>
  /(^|[_-])(key|token|secret|passw(or)?d|passphrase|credentials?)([_-]|$)/i.test(
    name.replace(/([a-z])([A-Z])/g, '$1_$2'),
  );
