# Chores. `just` lists them; each is a plain command that can be typed as well.

# What CI runs.
test:
    ./scripts/test

# Rust only, quickly.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo nextest run --workspace

# The demo, on http://127.0.0.1:7400.
demo:
    cargo run --release -- serve --demo

# Attacks on every promise, counted into docs/trust.md: `just trust`, `just trust --hours 8`.
trust *ARGS:
    ./scripts/trust {{ARGS}}

# Accept changed snapshots after looking at them.
snapshots:
    cargo insta review

# Licences, bans, sources; and advisories, which are fetched.
deny:
    cargo deny check

# The page, rebuilt into the binary's folder.
page:
    cd web && npm ci && npm run build

# The figures of docs/benchmarks.md.
bench *ARGS:
    ./scripts/bench {{ARGS}}

# The page's types of the API, made anew from the published document.
api-types:
    ./scripts/api-types

# The documents as a site, in target/site.
site:
    ./scripts/site

# The commands of the documents, tried.
docs *PAGES:
    ./scripts/check-docs {{PAGES}}
