#!/bin/sh
# hsqldb.sh JDK_HOME OUTDIR [OPTION]...
# HSQLDB: four clients of one database, in memory and in a file.
#
# Transactions whose sums depend on nothing else (programs/Accounts.java): the same in memory and in
# a file, with and without the agent.  The recording that stays is of the file.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/workloads/jdbc.sh
. "${0%/*}/jdbc.sh"
workload "$@"
groups=all

jar=/usr/share/java/hsqldb.jar
[ -e $jar ] || skip "no $jar (Debian: libhsqldb-java)"
accounts $jar 'jdbc:hsqldb:mem:accounts;hsqldb.tx=mvcc' \
    "jdbc:hsqldb:file:$tmp/db;hsqldb.tx=mvcc;shutdown=true"
