// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting

/// A case of the command line: commands that run one after the other in an empty folder, and what each of them prints.
///
///     # Why the case is there.
///     $ nfc tag write --image card.json https://example.com
///     > standard output, line by line
///     ! standard error
///     = the exit status, where it is not 0
///     $ nfc ndef decode
///     < standard input, line by line
///
///     -- card.json --
///     a file that is there before the commands, up to the next line of this form
///     -- bin/xdg-open (755) --
///     a file with a mode
///
/// A line that ends in ` \` goes on in the next. Words are quoted as in a shell: `'as it is'`, `"with \" \\ \n \u{1b}"`.
/// `NAME=value` before a command sets a variable, and `< file`, `> file` and `2> file` behind it redirect. `nfc`, `nfcd` and
/// `FirstScan` are those that were built with the tests; all others, such as `cat`, `cmp` and `sed`, are the system's. There
/// is no pipe, no loop and no other part of a shell: a case runs one process a command.
///
/// `$DIR` is the folder, `$FILES` the folder `Cases/Files`, `$DUMPS` the folder of the dumps that the tests of images read,
/// and `$NOW` the time in seconds, also as in `$NOW-7300`: in commands, in input and in files. `$HEX(d10155)`, in input and
/// in files, are bytes that are no text; a line feed behind them is not one of the bytes. In output the folders, and numbers
/// that vary, are replaced.
struct SnapshotCase: Sendable {
    /// The subject and the name, such as `tag-write/torn-after-two-writes-exits-1`.
    let name: String
    private let file: URL

    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    /// The folder of all cases.
    static let folder = sources.appendingPathComponent("Cases")
    private static let files = folder.appendingPathComponent("Files")
    private static let dumps = sources.appendingPathComponent("../../VirtualTags/TagImagesTests/Dumps")
        .standardizedFileURL
    /// Where the programs are: beside the tests.
    private static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// All cases, or those whose name contains one of the words of `SNAPSHOT_CASES`.
    static let all: [SnapshotCase] = {
        let words = ProcessInfo.processInfo.environment["SNAPSHOT_CASES"]?.split(separator: " ") ?? []
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().map { name in
            SnapshotCase(name: String(name.dropLast(4)), file: folder.appendingPathComponent(name))
        }.filter { found in words.isEmpty || words.contains { found.name.contains($0) } }
    }()

    /// The text of the case as it is in its file.
    func expected() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Replaces the text of the case in its file.
    func update(_ text: String) throws { try text.write(to: file, atomically: true, encoding: .utf8) }

    /// Runs the commands.
    ///
    /// - Returns: the text of the case with what they really print.
    func run() throws -> String {
        let temporary = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let folder = temporary.appendingPathComponent("nfc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = Place(folder: folder)
        let lines = try expected().split(separator: "\n", omittingEmptySubsequences: false)
        let script = lines.prefix { Self.header($0) == nil }
        try place.write(lines.dropFirst(script.count))
        var result: [String] = []
        var rest = script[...]
        while let line = rest.popFirst() {
            guard line.hasPrefix("$ ") else {
                let isExpectation = [">", "!", "=", "\\"].contains { line.hasPrefix($0) }
                if !isExpectation { result.append(String(line)) }
                continue
            }
            var command = [line]
            while command.last?.hasSuffix(" \\") == true, let next = rest.popFirst() { command.append(next) }
            let input = rest.prefix { $0.hasPrefix("<") }
            rest = rest.dropFirst(input.count)
            result += (command + input).map(String.init)
            let words = command.map { $0.hasSuffix(" \\") ? $0.dropLast() : $0 }.joined(separator: " ")
            result += try place.run(words.dropFirst(2), input: input.map { $0.dropFirst(2) + "\n" }.joined())
        }
        return (result + lines.dropFirst(script.count).map(String.init)).joined(separator: "\n")
    }

    /// The name and the mode of a file in a line such as `-- bin/xdg-open (755) --`.
    private static func header(_ line: Substring) -> (name: String, mode: Int)? {
        guard let match = line.wholeMatch(of: #/-- ([^ ]+)(?: \(([0-7]+)\))? --/#) else { return nil }
        return (String(match.1), match.2.flatMap { Int($0, radix: 8) } ?? 0o644)
    }

    /// The lines that differ between two texts of a case, each under the command that printed it.
    static func difference(_ old: String, _ new: String) -> String {
        let (old, new) = (old.components(separatedBy: "\n"), new.components(separatedBy: "\n"))
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (result, command): ([String], String?) = ([], nil)
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            let isOld = removed.contains(left)
            guard isOld || inserted.contains(right) else {
                if old[left].hasPrefix("$ ") { command = old[left] }
                (left, right) = (left + 1, right + 1)
                continue
            }
            if let line = command { result.append("  " + line) }
            command = nil
            result.append(isOld ? "- " + old[left] : "+ " + new[right])
            if isOld { left += 1 } else { right += 1 }
        }
        return result.joined(separator: "\n")
    }
}

extension SnapshotCase {
    /// The folder in which the commands of a case run.
    private struct Place {
        let folder: URL

        // MARK: Files

        /// Writes the files of a case, each of which follows its header.
        func write(_ lines: ArraySlice<Substring>) throws {
            var rest = lines
            while let head = rest.popFirst().flatMap(SnapshotCase.header) {
                let content = rest.prefix { SnapshotCase.header($0) == nil }
                rest = rest.dropFirst(content.count)
                let path = folder.appendingPathComponent(head.name)
                try FileManager.default.createDirectory(
                    at: path.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                // The text of a case ends with a line feed, and so with an empty line.
                let text = content.joined(separator: "\n") + (rest.isEmpty ? "" : "\n")
                try bytes(text).write(to: path)
                try FileManager.default.setAttributes([.posixPermissions: head.mode], ofItemAtPath: path.path)
            }
        }

        /// Replaces the names of places and times by what they stand for.
        private func expand(_ text: String) -> String {
            guard text.contains("$") else { return text }
            let now = Int(Date().timeIntervalSince1970)
            return text.replacing("$DIR", with: folder.path).replacing("$DUMPS", with: SnapshotCase.dumps.path)
                .replacing("$FILES", with: SnapshotCase.files.path)
                .replacing(#/\$NOW([-+][0-9]+)?/#) { match in "\(now + (match.1.flatMap { Int($0) } ?? 0))" }
        }

        /// The bytes of a text, in which `$HEX(d10155)` are bytes that are no text.
        private func bytes(_ text: String) -> Data {
            var result = Data()
            var rest = Substring(expand(text))
            while let match = rest.firstMatch(of: #/\$HEX\(((?:[0-9a-f]{2})*)\)\n?/#) {
                result += Data(rest[..<match.range.lowerBound].utf8)
                result += match.1.matches(of: #/../#).compactMap { UInt8($0.0, radix: 16) }
                rest = rest[match.range.upperBound...]
            }
            return result + Data(rest.utf8)
        }

        // MARK: Commands

        /// Runs a command.
        ///
        /// - Returns: the lines that a case has of what it printed and how it ended.
        func run(_ line: Substring, input: String) throws -> [String] {
            var command = CommandWords(expand(String(line)))
            if let name = command.words.first, ["nfc", "nfcd", "FirstScan"].contains(name) {
                command.words[0] = SnapshotCase.programs.appendingPathComponent(name).path
            }
            // It finds programs in the PATH of the case.
            let program = ProgramRun(
                "/usr/bin/env",
                command.words,
                environment: environment.merging(command.variables) { $1 },
                folder: folder.path
            )
            let scratch = folder.appendingPathExtension("streams")
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            let files = ["<", ">", "2>"].map { sign in
                command.redirections[sign].map { name in
                    name.hasPrefix("/") ? URL(fileURLWithPath: name) : folder.appendingPathComponent(name)
                } ?? scratch.appendingPathComponent(sign)
            }
            if command.redirections["<"] == nil { try bytes(input).write(to: files[0]) }
            for file in files.dropFirst() where !file.path.hasPrefix("/dev/") { try Data().write(to: file) }
            let end = try program.run(input: files[0].path, output: files[1].path, error: files[2].path)
            let output = command.redirections[">"] == nil ? try lines(of: files[1], mark: ">") : []
            let error = command.redirections["2>"] == nil ? try lines(of: files[2], mark: "!") : []
            let status = (end.isSignal ? "signal " : "") + "\(end.status)"
            return output + error + (status == "0" ? [] : ["= \(status)"])
        }

        /// Everything that commands know of their surroundings: no reader, bus or desktop of this machine.
        private var environment: [String: String] {
            var variables = [
                "HOME": folder.path, "TMPDIR": folder.path, "PATH": folder.path + "/bin:/usr/bin:/bin",
                "XDG_DATA_DIRS": "/nowhere", "XDG_CONFIG_DIRS": "/nowhere", "XDG_RUNTIME_DIR": "/nowhere",
                "PCSCLITE_CSOCK_NAME": "/nowhere/pcscd.comm", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere", "NFC_SHEET": "none", "NO_COLOR": "1",
                "LC_ALL": "C.UTF-8", "TZ": "UTC",
            ]
            // Programs that are built for it count in the coverage too, and leave no file in the folder otherwise.
            let inherited = ProcessInfo.processInfo.environment
            variables["LLVM_PROFILE_FILE"] = inherited["LLVM_PROFILE_FILE"] ?? "/dev/null"
            variables["ASAN_OPTIONS"] = inherited["ASAN_OPTIONS"]
            return variables
        }

        // MARK: Output

        /// The lines of a file as a case has them.
        private func lines(of file: URL, mark: String) throws -> [String] {
            let text = replacingWhatVaries(String(decoding: try Data(contentsOf: file), as: UTF8.self))
            guard !text.isEmpty else { return [] }
            var lines = text.components(separatedBy: "\n")
            let isWhole = lines.last == ""
            if isWhole { lines.removeLast() }
            let marked = lines.map { line in line.isEmpty ? mark : mark + " " + Self.visible(line) }
            return marked + (isWhole ? [] : [#"\ no line feed at the end"#])
        }

        /// Puts names of places in place of their paths, and letters in place of numbers that differ from run to run.
        private func replacingWhatVaries(_ text: String) -> String {
            var text = text.replacing(folder.path, with: "$DIR")
            guard text.contains("/") || text.contains("\":") || text.contains(" days ago") else { return text }
            text = text.replacing(SnapshotCase.dumps.path, with: "$DUMPS")
                .replacing(SnapshotCase.files.path, with: "$FILES").replacing(SnapshotCase.programs.path, with: "$BIN")
            return text.replacing(#/\/dev\/pts\/[0-9]+/#, with: "/dev/pts/N")
                .replacing(#/"(ns|age_s|next_try_s|pcscd_pid)":[0-9]+/#) { "\"\($0.1)\":N" }
                .replacing(#/[0-9]{3,} days ago/#, with: "N days ago")
        }

        /// A line whose control characters can be seen.
        private static func visible(_ line: String) -> String {
            // Almost no line has one.
            guard line.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return line }
            return line.unicodeScalars.map { scalar in
                let isControl = scalar.properties.generalCategory == .control
                return isControl ? "<U+\(String(scalar.value, radix: 16))>" : String(scalar)
            }.joined()
        }
    }
}

/// The parts of a command line.
struct CommandWords {
    var variables: [String: String] = [:]
    var words: [String] = []
    /// Files by the sign of their redirection.
    var redirections: [String: String] = [:]

    init(_ line: String) {
        var rest = Substring(line)
        var sign: String?
        while let (word, isQuoted) = Self.nextWord(&rest) {
            if let place = sign {
                redirections[place] = word
                sign = nil
            } else if !isQuoted, ["<", ">", "2>"].contains(word) {
                sign = word
            } else if words.isEmpty, let match = word.wholeMatch(of: #/([A-Z0-9_]+)=((?s).*)/#) {
                variables[String(match.1)] = String(match.2)
            } else {
                words.append(word)
            }
        }
    }

    /// Takes the next word of a line, without its quotes.
    private static func nextWord(_ rest: inout Substring) -> (word: String, isQuoted: Bool)? {
        rest = rest.drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        var word = ""
        var quote: Character?
        var isQuoted = false
        while let character = rest.popFirst() {
            if character == quote {
                quote = nil
            } else if quote == "\"", character == "\\" {
                word += escape(&rest)
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                isQuoted = true
            } else if quote == nil, character == " " {
                break
            } else {
                word.append(character)
            }
        }
        return (word, isQuoted)
    }

    /// The character of an escape, whose backslash is taken.
    private static func escape(_ rest: inout Substring) -> String {
        if let match = rest.prefixMatch(of: #/u\{([0-9a-f]+)\}/#) {
            rest = rest[match.range.upperBound...]
            return UInt32(match.1, radix: 16).flatMap(UnicodeScalar.init).map { String($0) } ?? ""
        }
        guard let character = rest.popFirst() else { return "" }
        return character == "n" ? "\n" : String(character)
    }
}
