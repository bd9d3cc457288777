# The command itself: help, versions, unknown words, the generated texts, the installed tree.
# jdk: any

test_no_arguments_is_a_usage_error() {
    run 2 "$ORCA"
    has err "Usage: orca COMMAND"
}

test_unknown_command() {
    run 2 "$ORCA" recrod
    same "$(cat err)" "orca: unknown command 'recrod'; did you mean 'record'?"
    run 2 "$ORCA" zzzzzzzz
    same "$(cat err)" "orca: unknown command 'zzzzzzzz'; 'orca --help' lists them"
}

test_version_and_help() {
    run 0 "$ORCA" --version
    grep -qE '^orca [0-9]+\.[0-9]+\.[0-9]+$' out || fail "version"
    same "$(sed -n 's/^## //p' "$ROOT/CHANGELOG.md" | head -n 1)" "$(sed 's/^orca //' out)"
    run 0 "$ORCA" --help
    has out "record "
    for c in $("$ORCA" __complete names); do
        run 0 "$ORCA" "$c" --help
        has out "Usage: orca $c"
        same "$(LC_ALL=C grep -cE '^.{101}' out)" 0
        run 0 "$ORCA" help "$c"
    done
}

test_a_full_disk_is_an_error() {
    [ -e /dev/full ] || skip "needs /dev/full"
    "$ORCA" --help >/dev/full 2>err
    same $? 1
    has err "cannot write to stdout"
    "$ORCA" doctor >/dev/full 2>err
    same $? 1
    has err "cannot write to stdout"
}

test_completions_are_valid() {
    "$ORCA" __complete bash >c.bash || fail "bash"
    bash -n c.bash || fail "bash syntax"
    . ./c.bash
    complete_words() { # WORD...
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _orca
        echo "${COMPREPLY[*]}"
    }
    same "$(complete_words orca rec)" record
    same "$(complete_words orca record --out)" --output
    same "$(complete_words orca record -e wai)" waits
    "$ORCA" __complete zsh >c.zsh
    ! command -v zsh >/dev/null || zsh -n c.zsh || fail "zsh syntax"
    "$ORCA" __complete fish >c.fish
    ! command -v fish >/dev/null || fish -n c.fish || fail "fish syntax"
    has c.fish "-l output"
}

test_man_page_is_valid() {
    "$ORCA" __man >orca.1
    command -v man >/dev/null || skip "needs man"
    LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -l orca.1 >text 2>warnings
    same "$(cat warnings)" ""
    has text "orca record"
}

# The release file holds the installed tree, below a folder that names the version.
test_installed_tree() {
    file=$(make -s -C "$ROOT" release | tail -n 1) || fail "make release"
    tar -xzf "$ROOT/$file" || fail "tar"
    same "orca $(basename "$file" -linux-x86_64.tar.gz | sed 's/^orca-//')" "$("$ORCA" --version)"
    cd "$TMP/$(basename "$file" .tar.gz)" || fail "no folder"
    for f in bin/orca lib/liborca.so lib/libOrcaAgent.so share/man/man1/orca.1 \
        share/bash-completion/completions/orca share/zsh/site-functions/_orca \
        share/fish/vendor_completions.d/orca.fish share/doc/orca/LICENSE share/doc/orca/THIRD-PARTY share/doc/orca/orca.cdx.json; do
        [ -s $f ] || fail "$f is missing"
    done
    run 0 bin/orca record -- sh -c 'echo $JAVA_TOOL_OPTIONS'
    has "$TMP/out" "-agentpath:$PWD/lib/liborca.so="
}
