# bash completion for seslite. `seslite help --bash` prints it.
_seslite()
{
    local word words=() answer
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        case $word in # as the shell would read it, but expanding nothing
        =) continue ;; # bash splits --app=chat into three words
        \'*\' | \"*\") word=${word:1:${#word}-2} ;;
        \'* | \"*) word=${word:1} ;;
        esac
        words+=("${word//\\/}")
    done
    [[ ${COMP_WORDS[COMP_CWORD]} != = ]] || words+=('')
    COMPREPLY=()
    answer=$("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
    if (($? == 1)); then
        compopt -o default 2>/dev/null # the names of files
        return
    fi
    while IFS= read -r word; do
        [[ -n $word ]] || continue
        printf -v word %q "${word%%$'\t'*}" # a name can be any text
        COMPREPLY+=("$word")
    done <<<"$answer"
}
complete -F _seslite seslite
