# Builds from the source: brew install --HEAD ./deploy/homebrew/throughline.rb
class Throughline < Formula
  desc "Context engine for assistants built on language models and MCP tools"
  homepage "https://github.com/throughline/throughline"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/throughline/throughline.git", branch: "main"

  # aws-lc, the cryptography of TLS, is built from C.
  depends_on "cmake" => :build
  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/server")
  end

  # Keeps its store in the platform's data folder.
  service do
    run [opt_bin/"throughline", "serve"]
    keep_alive true
    log_path var/"log/throughline.log"
    error_log_path var/"log/throughline.log"
  end

  test do
    assert_match "throughline #{version}", shell_output("#{bin}/throughline --version") unless head?
    assert_match "the configuration is valid", shell_output("#{bin}/throughline config check")
  end
end
