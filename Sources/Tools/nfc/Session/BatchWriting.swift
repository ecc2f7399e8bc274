// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols

/// Writes the rows of a table to one tag after the other, and logs which tag has which row. The same command continues
/// after an end, because rows in the log are not written again, and neither are tags.
struct BatchWriting {
    private struct Row: Sendable {
        let number: Int
        let values: [String: String]
    }

    private let rows: [Row]
    private let links: [String]
    private let content: MessageOptions
    private let writing: WriteOptions
    private let options: SessionOptions
    private let json: Bool
    private let logPath: String

    /// Reads the table, and checks that each row makes a message.
    init(
        table path: String,
        log: String?,
        links: [String],
        content: MessageOptions,
        writing: WriteOptions,
        options: SessionOptions,
        json: Bool
    ) throws {
        (self.links, self.content, self.writing, self.options, self.json) = (links, content, writing, options, json)
        logPath = log ?? path + ".log"
        let lines = try CSV.lines(ofFile: path)
        guard let header = lines.first else {
            throw CommandFailure("bad-table", "\(path) is empty. Its first line has the names of the columns.")
        }
        let names = header + ["row", "uid"]
        var known: Set<String> = []
        if let twice = names.first(where: { !known.insert($0).inserted }) {
            throw CommandFailure(
                "bad-table",
                "\(path) has a column '\(twice)' twice, or one called row or uid. Rename it."
            )
        }
        guard lines.count > 1 else { throw CommandFailure("bad-table", "\(path) has no row after its first line.") }
        guard lines.count <= 100_000 else {
            throw CommandFailure("bad-table", "\(path) has more than 100,000 rows. Split it.")
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
        for row in rows { _ = try message(of: row, uid: String(repeating: "00", count: 10)) }
    }

    func run() async throws {
        var log = try BatchLog(path: logPath)
        guard log.entries.keys.allSatisfy({ (1...max(1, rows.count)).contains($0) }) else {
            throw CommandFailure("bad-table", "\(logPath) has rows that the table lacks. Name another log with --log.")
        }
        for row in rows {
            guard let entry = log.entries[row.number] else { continue }
            let bytes = try message(of: row, uid: entry.uid)
            guard bytes.hexText() == entry.message else {
                let message =
                    "Row \(row.number) was written to \(entry.uid) with another message. Restore the table and the "
                    + "command, or begin a new log with --log."
                throw CommandFailure("bad-table", message)
            }
        }
        try OutputFile.check(logPath)
        while nextRow(log) != nil, !StandardOutput.isBroken {
            let before = log.entries.count
            let end = try await runSession(&log)
            // A session ends after 60 seconds. Another one goes on, as long as tags come.
            guard let end, !(end.name == "timeout" && log.entries.count > before) else { continue }
            let count = rows.count - log.entries.count
            let again = log.entries.isEmpty ? "try again" : "go on after those in \(logPath)"
            let next = "\(RecordText.count(count, "row")) left. Run the same command again to \(again)."
            throw CommandFailure(end.status, end.name, "\(end.message) \(next)")
        }
        guard !StandardOutput.isBroken else { return }
        printResult(
            json: json,
            ["ok": true, "rows": rows.count, "log": logPath],
            ["\(RecordText.count(rows.count, "row")) written. \(logPath) says which tag has which."]
        )
    }

    private func nextRow(_ log: BatchLog) -> Row? { rows.first { log.entries[$0.number] == nil } }

    private func prompt(for row: Row) -> String { "Hold tag \(row.number) of \(rows.count) near the reader." }

    /// Writes rows until the session ends. Returns why it ended before all rows were written.
    private func runSession(_ log: inout BatchLog) async throws -> CommandFailure? {
        guard let first = nextRow(log) else { return nil }
        let session = try options.begin(prompt(for: first), savesTags: true)
        return try await session.naming {
            var failure: CommandFailure?
            for await event in session.events {
                switch event {
                case .becameActive: break
                case .detected(let tags):
                    do throws(CommandFailure) {
                        for tag in tags { try await write(to: tag, in: session, &log) }
                    } catch {
                        // After the session's end, the end says why.
                        failure = error.isCutOff ? nil : error
                    }
                    if failure != nil || StandardOutput.isBroken {
                        session.session.fail(.userCanceled)
                    } else if let next = nextRow(log) {
                        session.session.alertMessage = prompt(for: next)
                        session.session.restartPolling(skippingReported: true)
                    } else {
                        session.session.alertMessage = "All rows are written."
                        session.session.endAfterFirstMessage()
                    }
                case .ended(let end):
                    failure = failure ?? CommandFailure(end, after: .none, on: session.environment.driver)
                }
            }
            await session.close()
            try session.checkFiles()
            return failure?.on(session.readerName)
        }
    }

    /// Writes the next row to a tag, unless the tag has one already. If the tag refuses it, prints why.
    ///
    /// - Throws: ``CommandFailure`` if the session has ended or the log can't be saved.
    private func write(
        to tag: ConnectableTag,
        in session: TagSession,
        _ log: inout BatchLog
    ) async throws(CommandFailure) {
        guard let row = nextRow(log) else { return }
        let (checks, locks) = (writing.check, writing.lock)
        let uid: String
        let bytes: [UInt8]
        do throws(CommandFailure) {
            uid = try await session.work(with: tag) { tag throws(TagError) in tag.target.identifier }.hexText()
            if let known = log.entries.first(where: { $0.value.uid == uid })?.key {
                return session.print { StandardError.writeLine("\(uid) has row \(known) already. Hold another tag.") }
            }
            bytes = try message(of: row, uid: uid)
            let outcome = try await session.work(with: tag) { tag throws(TagError) in
                await tag.write(bytes, checks: checks, locks: locks)
            }
            if let failure = outcome.failure { throw CommandFailure(failure) }
        } catch {
            guard !error.isCutOff else { throw error }
            await session.signal(isSuccess: false)
            return session.print { error.on(session.readerName).print(json: json) }
        }
        // Saved first: a batch that is killed must not have logged a row that the file lacks.
        session.environment.tagSaver?.save()
        if let failure = session.environment.tagSaver?.failure {
            throw CommandFailure(failure.code.description, failure.reason)
        }
        await session.signal(isSuccess: true)
        session.print {
            printResult(
                json: json,
                ["ok": true, "row": row.number, "uid": uid, "message_hex": bytes.hexText()],
                ["Row \(row.number) of \(rows.count): \(uid)"]
            )
        }
        try log.add(row.number, BatchLog.Entry(uid: uid, message: bytes.hexText()))
    }

    /// The message of a row: the command's links and options, with the row's values, `{row}` and `{uid}` filled in.
    private func message(of row: Row, uid: String) throws(CommandFailure) -> [UInt8] {
        var values = row.values
        values["row"] = String(row.number)
        values["uid"] = uid
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
        do {
            let inLink = { (link: String) in try filled(link, inLink: true) }
            return try content.filled(by: { try filled($0) }, inLinks: inLink).bytes(links.map(inLink))
        } catch {
            throw CommandFailure(reporting: error) ?? CommandFailure(.usage, "bad-table", "\(error)")
        }
    }

    /// Everything but the unreserved characters of RFC 3986, 2.3, percent-encoded.
    private static func percentEncoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        )
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}

/// Which tag has which row and message, as a file of lines `row,uid,message`.
private struct BatchLog {
    struct Entry {
        var uid: String
        var message: String
    }

    let path: String
    /// By number of the row.
    private(set) var entries: [Int: Entry] = [:]

    /// Reads the log; a missing file is an empty log.
    init(path: String) throws {
        self.path = path
        let lines: [[String]]
        do {
            lines = try CSV.lines(ofFile: path)
        } catch let error as StorageError where error.code == .missing {
            return
        }
        for line in lines {
            guard line.count == 3, let number = Int(line[0]),
                line.dropFirst().allSatisfy({ HexArgument(argument: $0) != nil })
            else {
                throw CommandFailure("bad-table", "\(path) exists and is no log of a batch. Name another with --log.")
            }
            entries[number] = Entry(uid: line[1], message: line[2])
        }
    }

    /// Adds a row, and replaces the file as a whole. Messages can have passwords, so only the owner can read it.
    mutating func add(_ row: Int, _ entry: Entry) throws(CommandFailure) {
        entries[row] = entry
        let lines = entries.sorted { $0.key < $1.key }.map { "\($0.key),\($0.value.uid),\($0.value.message)\n" }
        do throws(StorageError) {
            try OutputFile.write(Array(lines.joined().utf8), to: path, readers: .ownerAlone)
        } catch {
            throw CommandFailure("unwritable-file", "\(error.reason) The tag that was written last is not in it.")
        }
    }
}

private enum CSV {
    /// The fields of a file's lines (RFC 4180: commas or semicolons, quotes, and quotes doubled within them).
    static func lines(ofFile path: String) throws -> [[String]] {
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
        // A spreadsheet separates columns with semicolons where the comma separates decimals.
        let first = characters.prefix { !$0.isNewline }
        let separator: Character = first.contains(";") && !first.contains(",") ? ";" : ","
        while let character = characters.popFirst() {
            switch character {
            case "\"" where isQuoted && characters.first == "\"": field.append(characters.removeFirst())
            case "\"" where isQuoted || field.isEmpty: isQuoted.toggle()
            case separator where !isQuoted:
                line.append(field)
                field = ""
            case "\n" where !isQuoted, "\r\n" where !isQuoted, "\r" where !isQuoted: end()
            default: field.append(character)
            }
        }
        guard !isQuoted else { throw CommandFailure("bad-table", "A quote in \(path) is never closed.") }
        if !field.isEmpty || !line.isEmpty { end() }
        return lines
    }
}
