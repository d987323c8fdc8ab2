//! Runs the built program in a temporary folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A temporary folder that is removed at the end of the test.
pub struct Shell {
    dir: tempfile::TempDir,
}

/// Exit code and output of the program.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    /// Parses the single line of `--json`.
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.err);
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {}", self.out);
        serde_json::from_str(&self.out).expect("JSON")
    }
}

impl Shell {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// Runs a command line that is split at blanks.
    pub fn run(&self, line: &str) -> CommandOutput {
        self.run_with(line, b"")
    }

    /// Runs a command line with standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> CommandOutput {
        let mut child = Command::new(env!("CARGO_BIN_EXE_evermargin"))
            .args(line.split_whitespace())
            .current_dir(self.dir.path())
            .env_remove("COLUMNS")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut stdin = child.stdin.take().expect("stdin");
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            let _ = stdin.write_all(&input); // the program may end before it has read everything
        });
        let output = child.wait_with_output().expect("ended");
        feeder.join().expect("fed");
        CommandOutput {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Runs a command that must end with the given code.
    pub fn fails(&self, line: &str, code: i32) -> CommandOutput {
        let result = self.run(line);
        assert_eq!(result.code, code, "{line}: {}{}", result.out, result.err);
        result
    }

    /// Runs a command with standard input that must succeed.
    pub fn ok_with(&self, line: &str, input: &[u8]) -> CommandOutput {
        let result = self.run_with(line, input);
        assert_eq!(result.code, 0, "{line}: {}", result.err);
        result
    }

    /// The temporary folder.
    pub fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// Runs a command that must succeed.
    pub fn ok(&self, line: &str) -> CommandOutput {
        let result = self.run(line);
        assert_eq!(result.code, 0, "{line}\n{}", result.err);
        result
    }

    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .expect("folder")
            .map(|e| e.expect("entry").file_name().to_string_lossy().to_string())
            .collect();
        names.sort();
        names
    }
}

/// Whether a program is installed.
pub fn installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|p| Path::new(&p).join(program).is_file()))
}
