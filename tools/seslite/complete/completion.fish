# fish completion for seslite. `seslite help --fish` prints it.
function __seslite_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct | string trim --left --chars '\'"' | string unescape)
    set -l answer (command seslite complete -- $words[2..] "$last" 2>/dev/null)
    if test $status -eq 1
        set -l option (string match --regex '^--[^=]*=' -- "$last")
        for file in (__fish_complete_path (string replace -- "$option" '' "$last"))
            echo -- "$option$file"
        end
    else
        string join \n -- $answer
    end
end
complete -c seslite -f -a '(__seslite_complete)'
