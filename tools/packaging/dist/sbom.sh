#!/bin/sh
# Prints the SBOM of a release as SPDX 2.3: its two tarballs, and the libraries that are needed beside them.
#     sh tools/packaging/dist/sbom.sh VERSION COMMIT SHA256-OF-SOURCES SHA256-OF-AMALGAMATION     (SOURCE_DATE_EPOCH)
set -eu
version=$1
commit=$2
sources=$3
amalgamation=$4
# GNU's date, and that of BSD.
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null ||
    date -u -r "$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)

# tarball ID NAME SHA256: one of the two
tarball() {
    cat <<JSON
    {
      "SPDXID": "SPDXRef-$1",
      "name": "$2",
      "versionInfo": "$version",
      "packageFileName": "$2-$version.tar.gz",
      "supplier": "Organization: seslite",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false,
      "sourceInfo": "made by make dist from the git commit $commit",
      "checksums": [{"algorithm": "SHA256", "checksumValue": "$3"}],
      "licenseConcluded": "Apache-2.0",
      "licenseDeclared": "Apache-2.0",
      "copyrightText": "NOASSERTION",
      "primaryPackagePurpose": "SOURCE",
      "externalRefs": [
        {
          "referenceCategory": "PACKAGE-MANAGER",
          "referenceType": "purl",
          "referenceLocator": "pkg:generic/$2@$version?checksum=sha256:$3"
        }
      ]
    },
JSON
}

# library ID NAME LICENSE WHERE COMMENT: one that is not in the tarballs
library() {
    cat <<JSON
    {
      "SPDXID": "SPDXRef-$1",
      "name": "$2",
      "supplier": "NOASSERTION",
      "downloadLocation": "$4",
      "filesAnalyzed": false,
      "licenseConcluded": "NOASSERTION",
      "licenseDeclared": "$3",
      "copyrightText": "NOASSERTION",
      "primaryPackagePurpose": "LIBRARY",
      "comment": "$5"
    }
JSON
}

# related ID HOW ID
related() {
    printf '    {"spdxElementId": "SPDXRef-%s", "relationshipType": "%s", "relatedSpdxElement": "SPDXRef-%s"}' "$1" "$2" "$3"
}

cat <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "seslite-$version",
  "documentNamespace": "https://spdx.org/spdxdocs/seslite-$version-$sources",
  "creationInfo": {"created": "$created", "creators": ["Organization: seslite", "Tool: seslite-make-dist-$version"]},
  "packages": [
JSON
tarball sources seslite "$sources"
tarball amalgamation seslite-amalgamation "$amalgamation"
library SQLite SQLite blessing https://sqlite.org "3.37 or newer, the system's."
echo ,
library cJSON cJSON MIT NOASSERTION "For seslite_cjson.h and the shared library."
echo ,
library libpq libpq PostgreSQL https://www.postgresql.org "14 or newer, for stores on a PostgreSQL server: make POSTGRES=1."
echo ,
library libmariadb libmariadb LGPL-2.1-or-later NOASSERTION "For stores on a server of MySQL or MariaDB: make MYSQL=1."
echo ,
library libmicrohttpd libmicrohttpd LGPL-2.1-or-later NOASSERTION "For the example server."
echo ,
library libcurl libcurl curl NOASSERTION "For the tests of the example server."
echo ,
library cmocka cmocka Apache-2.0 NOASSERTION "For the tests."
printf '  ],\n  "relationships": [\n'
related DOCUMENT DESCRIBES sources
for relation in "DOCUMENT DESCRIBES amalgamation" "amalgamation GENERATED_FROM sources" "sources DEPENDS_ON SQLite" \
    "amalgamation DEPENDS_ON SQLite" "cJSON OPTIONAL_DEPENDENCY_OF sources" "libpq OPTIONAL_DEPENDENCY_OF sources" \
    "libmariadb OPTIONAL_DEPENDENCY_OF sources" \
    "libmicrohttpd OPTIONAL_DEPENDENCY_OF sources" "libcurl TEST_DEPENDENCY_OF sources" "cmocka TEST_DEPENDENCY_OF sources"; do
    echo ,
    # shellcheck disable=SC2086 # words are meant to be split
    related $relation
done
printf '\n  ]\n}\n'
