#compdef seslite
# zsh completion for seslite. `seslite help --zsh` prints it.
_seslite()
{
    local answer
    local -a lines candidates
    answer=$(seslite complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    if (($? == 1)); then
        compset -P '--*='
        _files
        return
    fi
    lines=(${(f)answer})
    candidates=(${lines%%$'\t'*})
    lines=(${lines//$'\t'/  -- })
    compadd -l -d lines -a -- candidates
}
_seslite "$@"
