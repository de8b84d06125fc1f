/** The shells for which there is a script. */
export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * The script that each shell runs at its start. Each asks `raymond completion words` what fits: its first line says whether
 * file names fit, too, and each other line is a word and, after a tab, its meaning.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<(typeof COMPLETION_SHELLS)[number], string>> = {
  bash: `# For bash: put this line into ~/.bashrc
#   eval "$(raymond completion bash)"
_raymond() {
  local line files current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$files" ]; then files=$line; else COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done < <("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$files" = files ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
}
complete -F _raymond raymond ray
`,
  zsh: `#compdef raymond ray
# For zsh: put these lines into ~/.zshrc
#   autoload -Uz compinit && compinit
#   eval "$(raymond completion zsh)"
_raymond() {
  local -a lines described
  local line
  lines=("\${(@f)$("$words[1]" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#described )) && _describe raymond described
  [[ $lines[1] == files ]] && _files
}
compdef _raymond raymond ray
`,
  fish: `# For fish: raymond completion fish | tee ~/.config/fish/completions/{raymond,ray}.fish >/dev/null
function __raymond_words
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l current (commandline -ct)
  set -l lines ($program completion words -- $words "$current" 2>/dev/null)
  if test "$lines[1]" = files
    __fish_complete_path "$current"
  end
  set -e lines[1]
  printf '%s\\n' $lines
end
complete -c raymond -f -a '(__raymond_words)'
complete -c ray -f -a '(__raymond_words)'
`,
};
