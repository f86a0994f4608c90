# The trace takes the name of a call from the function that begins it. Prints each other function that does.
#     awk -f test/traced.awk FILES
FNR == 1 { name = "" }
/^[a-z].*\(/ && !/;$/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
}
/ses__(store_begin|store_begin_giving|call_on_handle|call_by_key)\(/ && name !~ /^ses_[a-z]/ {
    print FILENAME ":" FNR ": " name " is no public call: let it be given the name of one"
    faults++
}
END { exit faults > 0 }
