# locations.pl CLASS PREFIX - reads what "javap -p -s -l -c CLASS" prints, and the text files PREFIX.*: the line tables
# and the locations of stacks must be those of the class file.  Prints what is not, then how many methods and locations
# it looked at.
use strict;
use warnings;

my ($class, $prefix) = @ARGV;
my (%lines, %insns, $method, $in_lines);
my ($name, $id) = ('', '');
while (<STDIN>) {
    if (/^  (?:.*[ .])?([\w\$<>]+)\(.*\).*;$/) { $name = $1 eq $class ? '<init>' : $1; }
    elsif (/^  static \{\};/) { $name = '<clinit>'; }
    elsif (/^ +descriptor: (\S+)/) { $method = "$name$1"; $in_lines = 0; }
    elsif (/^ +LineNumberTable:/) { $in_lines = 1; }
    elsif (/^ +Local|^$/) { $in_lines = 0; }
    elsif ($in_lines && /^ +line (\d+): (\d+)/) { push @{$lines{$method}}, "$2:$1"; }
    elsif (/^ +(\d+): [a-z]/) { $insns{$method}{$1} = 1; }
}
my (%classes, %of, $methods, $places) ;
open(my $f, '<', "$prefix.classtable") or die;
while (<$f>) { my @c = split /,/; $classes{$c[1]} = $c[2]; }
open($f, '<', "$prefix.methods") or die;
while (<$f>) {
    chomp;
    my (undef, $number, $n, $desc, $c, $table) = split /,/;
    next unless ($classes{$c} // '') eq "L$class;";
    my @t = split /;/, $table;
    shift @t;
    my @got;
    while (@t) { my ($start, $line) = splice @t, 0, 2; push @got, hex($start) . ':' . hex($line); }
    $of{$number} = "$n$desc";
    $methods++;
    my $want = join ' ', sort @{$lines{"$n$desc"} // []};
    my $got = join ' ', sort @got;
    print "lines of $n$desc: $got instead of $want\n" if $got ne $want;
}
open($f, '<', "$prefix.orca") or die;
while (<$f>) {
    while (/;([0-9A-F]{8});([0-9A-F]{8})/g) {
        next unless $of{$1};
        $places++;
        print "$of{$1}: there is no instruction at ", hex($2), "\n" unless $insns{$of{$1}}{hex($2)};
    }
}
print "$methods methods, $places locations\n";
