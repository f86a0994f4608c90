module example.org/seslite

go 1.24
