#!/bin/sh
# h2.sh JDK_HOME OUTDIR [OPTION]...
# H2: four clients of one database, in memory and in a file.
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

jar=/usr/share/java/h2.jar
[ -e $jar ] || skip "no $jar (Debian: libh2-java)"
accounts $jar jdbc:h2:mem:accounts "jdbc:h2:$tmp/db"
