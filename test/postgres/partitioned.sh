#!/bin/sh
# Prints the schema with each table that has a shard partitioned by it, into COUNT partitions:
#     sh test/postgres/partitioned.sh COUNT | psql -1 -v ON_ERROR_STOP=1 ...
set -eu
sed '/^    shard /,/^)/ s/^).*/) PARTITION BY RANGE (shard);/' sql/postgres/0002_initial.sql
cat sql/postgres/0003_families.sql
cat <<SQL
SELECT format('CREATE TABLE seslite.%I PARTITION OF seslite.%I FOR VALUES FROM (%s) TO (%s) %s',
              c.relname || '_' || n, c.relname, n * 4096 / $1, (n + 1) * 4096 / $1,
              CASE c.relname WHEN 'sessions' THEN 'WITH (fillfactor = 80)' END)
FROM pg_class AS c, generate_series(0, $1 - 1) AS n
WHERE c.relnamespace = 'seslite'::regnamespace AND c.relkind = 'p' \gexec
SELECT format('ALTER TABLE seslite.sessions_%s ALTER COLUMN shard SET (n_distinct = 1)', n)
FROM generate_series(0, $1 - 1) AS n \gexec
SQL
