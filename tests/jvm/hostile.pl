# hostile.pl SOCKET LINES SEED - asks the control socket of an agent nonsense, and nearly-sense.
# Each line is a connection: whole or cut off, in one piece or in several, the answer read or not.
# What ends a recording ("stop", "leave") is not said.  Prints how many answers were "ok" and "error".
use strict;
use warnings;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);

my ($path, $lines, $seed) = @ARGV;
srand $seed;
$SIG{PIPE} = 'IGNORE';

my @verbs = ('status', 'start', 'groups', 'flush', 'dump', 'rotate', 'query', 'star', 'statuss', '', ' ', "\0", 'STATUS');
my @words = ('waits', 'parks', 'locks', '+', '-', '+waits', '-parks', 'meta', 'all', 'none', 'held', 'thread', 'monitor',
    'object', 'class', '0', '1', '17', '-1', '4294967296', '99999999999999999999', '/', '/none/x', '/tmp', '../x', 'file=',
    'file=/none/x', 'every=1s', 'every=-1', 'keep=2', 'keep=', 'duration=', 'duration=99999999999h', 'depth=5000', 'ring=1',
    'maxsize=4k', 'format=none', 'format=orca+tptp', 'methods=', 'methods=a#', '%p%t%', '\\', ',', '=', "\t", "\xff\xfe",
    'java.lang.String', 'main', '%s%n', '$(id)', "'", '"');

sub any { $_[int rand @_] }
sub noise { join '', map { my $c = chr int rand 256; $c eq "\n" ? ' ' : $c } 1 .. int rand $_[0] }

sub line {
    my $kind = rand;
    return noise(200) if $kind < 0.2;
    return noise(9000) if $kind < 0.25;
    return 'query ' . any('locks', 'locks held', 'thread main', 'class java.lang.String', 'monitor 1') if $kind < 0.26;
    return 'groups ' . any('+locks', '-locks', '+parks', '-parks', '+') if $kind < 0.265;
    return any('status', 'flush') if $kind < 0.28;
    my $line = any(@verbs);
    $line .= any(' ', ' ', ' ', '  ', '') . join any(' ', ',', '+', '-', ''), map { any(@words) } 1 .. int rand 6;
    $line .= noise(20) if rand() < 0.1;
    # A recording's file is not to be anywhere, and a lone word is one.
    return $line =~ /^start/ && $line !~ /=/ ? "$line=" : $line;
}

my %answers = (ok => 0, error => 0, none => 0);
my @kept; # connections that say nothing more
for (1 .. $lines) {
    my $s;
    for (1 .. 200) { # the queue is short
        $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) and last;
        select undef, undef, undef, 0.01;
    }
    die "$path: $!" unless $s;
    my $text = line();
    $text .= "\n" unless rand() < 0.03;
    if (rand() < 0.1) {
        my $cut = int rand length $text;
        syswrite $s, substr $text, 0, $cut;
        syswrite $s, substr $text, $cut;
    } else {
        syswrite $s, $text;
    }
    if (rand() < 0.002) {
        push @kept, $s;
        next;
    }
    next if rand() < 0.05; # gone without listening
    shutdown $s, 1 if $text !~ /\n/;
    my $answer = '';
    while (sysread $s, my $part, 65536) { $answer .= $part }
    $answers{$answer =~ /^ok\n/ ? 'ok' : $answer =~ /^error \d+ [^\n]+\n$/ ? 'error' : $answer eq '' ? 'none' : die "answer: $answer"}++;
}
print "ok $answers{ok} error $answers{error} none $answers{none}\n";
