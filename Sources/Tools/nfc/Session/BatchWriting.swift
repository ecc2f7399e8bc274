// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols

/// Writes the rows of a table to one tag after the other, and logs which tag has which row. The same command continues
/// after an end, because rows in the log are not written again, and neither are tags.
struct BatchWriting {
    /// A row of the table, with its number from 1.
    private struct Row: Sendable {
        let number: Int
        let values: [String: String]
    }

    private let rows: [Row]
    private let links: [String]
    private let writing: WriteOptions
    private let options: SessionOptions
    private let json: Bool
    private let log: String

    /// Reads the table, and checks that each row makes a message.
    init(
        table path: String,
        log: String?,
        links: [String],
        writing: WriteOptions,
        options: SessionOptions,
        json: Bool
    ) throws {
        (self.links, self.writing, self.options, self.json) = (links, writing, options, json)
        self.log = log ?? path + ".log"
        let lines = try Self.table(path)
        guard let header = lines.first else {
            throw CommandFailure("bad-table", "\(path) is empty. Its first line has the names of the columns.")
        }
        let names = header + ["row", "uid"]
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw CommandFailure(
                "bad-table",
                "\(path) has a column '\(twice)' twice, or one called row or uid. Rename it."
            )
        }
        rows = try lines.dropFirst().enumerated().map { index, fields in
            guard fields.count == header.count else {
                let message =
                    "Row \(index + 1) of \(path) has \(fields.count) fields, and the first line \(header.count)."
                throw CommandFailure("bad-table", message)
            }
            return Row(number: index + 1, values: Dictionary(zip(header, fields)) { _, last in last })
        }
        // The longest UID, so that a row that fits here fits with the tag's own UID too.
        for row in rows { _ = try message(of: row, uid: [UInt8](repeating: 0, count: 10)) }
    }

    func run() async throws {
        var done = try Self.loggedRows(log)
        guard done.keys.allSatisfy({ (1...max(1, rows.count)).contains($0) }) else {
            throw CommandFailure("bad-table", "\(log) has rows that the table lacks. Name another log with --log.")
        }
        var written = Set(done.values)
        try OutputFile.check(log)
        func nextRow() -> Row? { rows.first { done[$0.number] == nil } }
        while let first = nextRow() {
            let session = try options.begin(prompt(for: first), savesTags: true)
            try await session.naming {
                let before = done.count
                var failure: CommandFailure?
                for await event in session.events {
                    switch event {
                    case .becameActive: break
                    case .detected(let tags):
                        for tag in tags {
                            guard let row = nextRow() else { break }
                            do throws(CommandFailure) {
                                guard let uid = try await write(row, to: tag, unless: written, in: session) else {
                                    continue
                                }
                                done[row.number] = uid
                                written.insert(uid)
                                try save(done)
                            } catch {
                                // The session's end says why.
                                if error.isCutOff { break }
                                if error.name == "unwritable-file" {
                                    failure = error
                                    break
                                }
                                session.print { error.on(session.readerName).print(json: json) }
                            }
                        }
                        if failure != nil || StandardOutput.isBroken {
                            session.session.fail(.userCanceled)
                        } else if let next = nextRow() {
                            session.session.alertMessage = prompt(for: next)
                            session.session.restartPolling(skippingReported: true)
                        } else {
                            session.session.alertMessage = "All rows are written."
                            session.session.endAfterFirstMessage()
                        }
                    case .ended(let end):
                        // A session ends after 60 seconds. Another one goes on, as long as tags come.
                        if failure == nil, !(end == .timeout && done.count > before) {
                            failure = CommandFailure(end, after: .none, on: session.environment.driver)
                        }
                    }
                }
                await session.close()
                try session.checkFiles()
                if let failure, !StandardOutput.isBroken { throw namingRest(failure, rows.count - done.count) }
            }
            if StandardOutput.isBroken { return }
        }
        printResult(
            json: json,
            ["ok": true, "rows": rows.count, "log": log],
            ["\(RecordText.count(rows.count, "row")) written. \(log) says which tag has which."]
        )
    }

    private func prompt(for row: Row) -> String { "Hold tag \(row.number) of \(rows.count) near the reader." }

    /// Writes a row's message and prints a line. Returns the tag's UID; nil if the tag has a row already.
    private func write(
        _ row: Row,
        to tag: ConnectableTag,
        unless written: Set<String>,
        in session: TagSession
    ) async throws(CommandFailure) -> String? {
        let (checks, locks) = (writing.check, writing.lock)
        let uid = try await session.work(with: tag) { tag throws(TagError) in tag.target.identifier }
        guard !written.contains(uid.hexText()) else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try message(of: row, uid: uid)
        } catch {
            throw CommandFailure(reporting: error) ?? CommandFailure("bad-table", "Row \(row.number) makes no message.")
        }
        let outcome = try await session.work(with: tag) { tag throws(TagError) in
            await tag.write(bytes, checks: checks, locks: locks)
        }
        if let failure = outcome.failure { throw CommandFailure(failure) }
        session.print {
            printResult(
                json: json,
                ["ok": true, "row": row.number, "uid": uid.hexText(), "message_hex": bytes.hexText()],
                ["Row \(row.number) of \(rows.count): \(uid.hexText())"]
            )
        }
        return uid.hexText()
    }

    private func namingRest(_ failure: CommandFailure, _ count: Int) -> CommandFailure {
        let next = "\(RecordText.count(count, "row")) left. Run the same command again to go on after those in \(log)."
        return CommandFailure(failure.status, failure.name, "\(failure.message) \(next)")
    }

    /// The message of a row: the command's links and options, with the row's values, `{row}` and `{uid}` filled in.
    private func message(of row: Row, uid: [UInt8]) throws -> [UInt8] {
        var values = row.values
        values["row"] = String(row.number)
        values["uid"] = uid.hexText()
        func filled(_ text: String, inLink: Bool = false) throws -> String {
            // In one pass, so that a value is never filled in itself.
            try text.replacing(/\{([^{}]+)\}/) { match in
                guard let value = values[String(match.output.1)] else {
                    let names = values.keys.sorted().joined(separator: ", ")
                    throw CommandFailure("bad-table", "'\(text)' has a name that is no column. There are: \(names).")
                }
                return inLink ? Self.percentEncoded(value) : value
            }
        }
        return try writing.content.filled { try filled($0) }.bytes(links.map { try filled($0, inLink: true) })
    }

    /// Everything but the unreserved characters of RFC 3986, 2.3, percent-encoded.
    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isPlain ? String(character) : "%" + [byte].hexText().uppercased()
        }.joined()
    }

    /// The fields of a file's lines (RFC 4180: commas, quotes, and quotes doubled within them).
    private static func table(_ path: String) throws -> [[String]] {
        var bytes = try InputFile.named(path, limit: StandardInput.maximumSize).readToEnd()
        // A spreadsheet's "CSV UTF-8" begins with a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var lines: [[String]] = []
        var (line, field, isQuoted) = ([String](), "", false)
        func end() {
            line.append(field)
            if line != [""] { lines.append(line) }
            (line, field) = ([], "")
        }
        guard var characters = String(validating: bytes, as: UTF8.self)?[...] else {
            throw CommandFailure("bad-table", "\(path) is not UTF-8. Save it as CSV UTF-8.")
        }
        while let character = characters.popFirst() {
            switch character {
            case "\"" where isQuoted && characters.first == "\"": field.append(characters.removeFirst())
            case "\"" where isQuoted || field.isEmpty: isQuoted.toggle()
            case "," where !isQuoted: (line, field) = (line + [field], "")
            case "\n" where !isQuoted, "\r\n" where !isQuoted: end()
            default: field.append(character)
            }
        }
        guard !isQuoted else { throw CommandFailure("bad-table", "A quote in \(path) is never closed.") }
        if !field.isEmpty || !line.isEmpty { end() }
        return lines
    }

    /// The UIDs in the log, by row.
    private static func loggedRows(_ path: String) throws -> [Int: String] {
        let lines: [[String]]
        do {
            lines = try table(path)
        } catch let error as StorageError where error.code == .missing {
            return [:]
        }
        var rows: [Int: String] = [:]
        for line in lines {
            guard line.count == 2, let number = Int(line[0]), HexArgument(argument: line[1]) != nil else {
                throw CommandFailure(
                    "bad-table",
                    "\(path) exists and is no log of rows and UIDs. Name another with --log."
                )
            }
            rows[number] = line[1]
        }
        return rows
    }

    /// Saves the rows that are written, with their tags' UIDs. The file is replaced as a whole.
    private func save(_ done: [Int: String]) throws(CommandFailure) {
        let text = done.sorted { $0.key < $1.key }.map { "\($0.key),\($0.value)\n" }.joined()
        do throws(StorageError) {
            try OutputFile.write(Array(text.utf8), to: log, readers: .everyone)
        } catch {
            throw CommandFailure("unwritable-file", "\(error.reason) The tag that was written last is not in it.")
        }
    }
}
