import type { Platform } from './state-names.ts';

/** The beginning of the name under which a script always finds a variable, whatever the variable is called. */
export const SAFE_NAME_PREFIX = 'RAYMOND_VAR_';

/** The kind of state that forked a worker: a prompt, that is, a model, or a script. */
export type ForkOrigin = 'prompt' | 'script';

/** The source of a variable's name: the user with `--var` or `[vars]`, or the state that forked. */
export type VariableOrigin = ForkOrigin | 'user';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LOWER_CASE_IDENTIFIER = /^[a-z_][a-z0-9_]*$/;

/**
 * Names that make a shell, or a program that scripts are likely to start, run code, load a library, read another
 * configuration or show its credentials to another server. A family with new members in each release is named as a whole.
 */
const DANGEROUS_NAMES = new RegExp(
  `^(?:${[
    // shells
    'PATH|HOME|IFS|ENV|SHELL|CDPATH|FPATH|GLOBIGNORE|EXECIGNORE|POSIXLY_CORRECT|SHELLOPTS|BASHOPTS|BASH|BASH_.*|PS[0-9]',
    'PROMPT_COMMAND|FCEDIT|INPUTRC|ZDOTDIR|HISTFILE|PATHEXT|COMSPEC|SYSTEMROOT|WINDIR|PSMODULEPATH|USERPROFILE|APPDATA',
    // the loader and the C library
    'LD_.*|DYLD_.*|LIBPATH|SHLIB_PATH|GCONV_PATH|GETCONF_DIR|GLIBC_.*|HOSTALIASES|LOCPATH|NLSPATH|MALLOC_.*|NIX_.*',
    'RES_OPTIONS|LOCALDOMAIN|TERMINFO|TERMINFO_DIRS|TERMCAP|TERMPATH|XDG_.*',
    // languages
    'PERL.*|PYTHON.*|PIP_.*|UV_.*|POETRY_.*|CONDA_.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_.*|NPM_.*|YARN_.*|PNPM_.*|COREPACK_.*',
    'DENO_.*|BUN_.*|JAVA_.*|_JAVA_OPTIONS|JDK_.*|JVM_.*|CLASSPATH|MAVEN_.*|GRADLE_.*|ANT_.*|SBT_.*|PHPRC|PHP_.*|COMPOSER.*',
    'LUA_.*|R_PROFILE.*|R_ENVIRON.*|R_LIBS.*|ERL_.*|ELIXIR_.*|JULIA_.*|GHC_.*|GHCRTS|OCAML.*|CAML.*|DOTNET_.*|CORECLR_.*|COMPLUS_.*',
    'GO(?:FLAGS|ENV|ROOT|PATH|PROXY|BIN|TOOLCHAIN|TOOLDIR|NOSUMDB|INSECURE|WORK)|CGO_.*|RUST.*|CARGO.*|TCLLIBPATH|GUILE_.*',
    // building
    'MAKE|MAKEFILES|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|CMAKE_.*|CC|CXX|CPP|CPATH|COMPILER_PATH|LIBRARY_PATH|GCC_.*|CCACHE_.*',
    '[A-Z]+FLAGS|[A-Z_]*INCLUDE_PATH|PKG_CONFIG.*|CONFIG_SITE',
    // programs that start others, or obey a file
    'GIT_.*|GCM_.*|HG(?:RCPATH|EDITOR|MERGE|PLAIN.*)?|SVN_.*|CVS_.*|SSH_.*|SUDO_.*|RSYNC_.*|GPG_.*|GNUPGHOME|EDITOR|VISUAL|PAGER|[A-Z]+PAGER|BROWSER|LESS(?:OPEN|CLOSE|EDIT|KEY.*|HISTFILE)?',
    'MORE|VIM.*|MYVIMRC|EXINIT|EMACS.*|AWKPATH|AWKLIBPATH|GAWK_.*|TAR_OPTIONS|GREP_OPTIONS|GZIP|BZIP2?|XZ_.*|ZSTD_.*|ZIPOPT|UNZIP',
    'WGETRC|CURL_.*|NETRC|OPENSSL_.*|SSL_.*|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE|PSQL.*|PG(?:SERVICE|PASS|SYSCONF|HOST).*|MYSQL_.*',
    'DOCKER_.*|BUILDKIT_.*|KUBE.*|HELM_.*|TF_.*|ANSIBLE_.*|AWS_.*|AZURE_.*|CLOUDSDK_.*|GOOGLE_APPLICATION.*|GH_.*|G[A-Z]+_(?:TOKEN|HOST)',
    'CLAUDE.*|ANTHROPIC_.*|MCP_.*|RAYMOND_.*',
    // npm reads its settings in any letter case
    '[nN][pP][mM]_.*',
  ].join('|')})$`,
  's',
);

/** Variables that send the traffic of scripts through another machine; programs read them in either letter case. */
const PROXY_NAMES = /^.*_proxy$/is;

/**
 * True if a script finds a variable under its own name. A chosen name in the environment can make programs run
 * code: a model may choose only among names that no program obeys.
 */
export function hasOwnName(name: string, origin: VariableOrigin, platform: Platform): boolean {
  if (!(origin === 'prompt' ? LOWER_CASE_IDENTIFIER : IDENTIFIER).test(name)) return false;
  if (origin !== 'script' && PROXY_NAMES.test(name)) return false;
  return !DANGEROUS_NAMES.test(platform === 'windows' ? name.toUpperCase() : name);
}

/** True if a variable reaches scripts at all: a name that is no identifier could mean anything in an environment. */
export const hasSafeName = (name: string): boolean => IDENTIFIER.test(name);

/** Explains which variables scripts get only under their safe names and which not at all: one sentence for each reason. */
export function safeNamesWarnings(
  variables: readonly (readonly [name: string, value: string])[],
  origin: VariableOrigin,
  platform: Platform,
): readonly string[] {
  const names = [...new Set(variables.map(([name]) => name))];
  const withNul = new Set(variables.filter(([, value]) => value.includes('\0')).map(([name]) => name));
  const safe = names.filter(hasSafeName);
  const nameless = names.filter((name) => !hasSafeName(name));
  const unusable = safe.filter((name) => withNul.has(name));
  const renamed = safe.filter((name) => !withNul.has(name) && !hasOwnName(name, origin, platform));
  const warnings = [
    [
      renamed,
      `scripts get ${nameVariables(renamed)} as ${listNames(renamed, (name) => `$${SAFE_NAME_PREFIX}${name}`)}, not as ${listNames(renamed, (name) => `$${name}`)}`,
    ],
    [nameless, `scripts do not get ${nameVariables(nameless)}: only identifiers can be names in an environment`],
    [unusable, `scripts do not get ${nameVariables(unusable)}: an environment cannot hold NUL characters`],
  ] as const;
  return warnings.flatMap(([affected, warning]) => (affected.length === 0 ? [] : [warning]));
}

const MAX_LISTED_NAMES = 10;

function listNames(names: readonly string[], format: (name: string) => string): string {
  const left = names.length - MAX_LISTED_NAMES;
  const listed = names.slice(0, MAX_LISTED_NAMES).map(format).join(', ');
  return left > 0 ? `${listed} and ${left} more` : listed;
}

const nameVariables = (names: readonly string[]): string =>
  `the variable${names.length === 1 ? '' : 's'} ${listNames(names, (name) => `\`${name}\``)}`;
