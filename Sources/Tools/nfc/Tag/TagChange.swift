// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import NFCSessions
import TagImages
import TagLink
import TagProtocols

struct TagChangePlan: Sendable {
    var type: ForumTagType?
    var product: String?
    var uid: [UInt8]
    var changes: [TagDifference] = []
    /// What the command leaves as it is, and what can't be undone.
    var notes: [String] = []

    init(_ tag: ActivatedTag) async {
        type = tag.forumTag?.type
        product = await tag.productName()
        uid = (tag.forumTag as? Type1Tag)?.uid ?? tag.target.identifier
    }

    /// Adds the writes of a memory, each unit once.
    mutating func add(_ writes: [UnitWrite], unit: String) {
        for (number, writes) in Dictionary(grouping: writes, by: \.unit).sorted(by: { $0.key < $1.key }) {
            guard let old = writes.first?.old, let new = writes.last?.new, old != new else { continue }
            changes.append(TagDifference("\(unit) \(number)", old.hexText(), new.hexText()))
        }
    }

    func object(reader: String?) -> JSONObject {
        [
            "reader": reader, "tag_type": type?.rawValue, "product": product, "uid": uid.isEmpty ? nil : uid.hexText(),
            "changes": changes.map(\.object), "notes": notes,
        ]
    }

    func lines(isDone: Bool) -> [String] {
        let report = TagReport(type: type, product: product, uid: uid, status: nil)
        let title = report.lines[0]
        guard !changes.isEmpty else { return [title, "Nothing to change"] }
        return [title, isDone ? "Changed:" : "Will change:"] + TagDifference.lines(changes) + notes
    }
}

extension TagDifference {
    var object: JSONObject { ["part": part, "old": old, "new": new] }

    /// The differences for people, the first 20 of them.
    static func lines(_ differences: [TagDifference]) -> [String] {
        let shown = differences.prefix(20)
        let width = shown.map(\.part.count).max() ?? 0
        let lines = shown.map { difference in
            let same = zip(difference.old ?? "", difference.new ?? "").prefix { $0 == $1 }.count
            let values = [difference.old, difference.new].map { value -> String in
                guard let value, !value.isEmpty else { return "none" }
                // Of a long value, the part around the first difference is shown.
                let limit = value.contains(" ") ? 160 : 40
                guard value.count > limit else { return value }
                let start = max(0, same - limit / 2)
                let part = value.dropFirst(start)
                return "\(start > 0 ? "…" : "")\(part.prefix(limit))\(part.count > limit ? "…" : "")"
            }
            let space = String(repeating: " ", count: width - difference.part.count)
            return "  \(difference.part)\(space)  \(values[0]) -> \(values[1])"
        }
        let rest = differences.count - shown.count
        return lines + (rest > 0 ? ["  and \(rest) more; --json lists all"] : [])
    }
}

/// Options of a command that changes a tag after it has shown what it will change.
struct TagChangeOptions: TagSourceArguments {
    static let exit = """
        Exit status: 0 done, 1 when the plan was not confirmed, the tag has other keys,
        does not fit, refused or left, or none was found, 2 for wrong usage, 3 without
        a reader, 130 when cancelled.
        """

    /// Returns the plan for a tag. If `performs` is true, also carries it out.
    typealias Change = @Sendable (_ tag: ActivatedTag, _ performs: Bool) async throws(TagError) -> TagChangePlan

    @Argument(help: TagSourceHelp.argument) var file: String?

    @Option(help: TagSourceHelp.image) var image: String?

    @Option(help: TagSourceHelp.id) var id: String?

    @Option(help: TagSourceHelp.reader) var reader: String?

    @Option(help: TagSourceHelp.timeout) var timeout: SecondsArgument?

    @Option(help: ArgumentHelp("Save the image in this file.", valueName: "file"))
    var out: String?

    @Flag(help: "Carry out the plan without asking.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        try use(image: file)
        try checkImageOption("--out", isGiven: out != nil)
        try OutputTarget.check(image: image, out: out, savesImage: true, json: json)
    }

    /// Shows the plan, asks unless `--yes` is given, and carries the plan out. On a reader, the tag may be removed
    /// while the question waits. With `opening`, the tag is opened before.
    func carryOut(
        _ prompt: String,
        done: String,
        unlock opening: TagCredentials = TagCredentials(),
        _ work: @escaping Change
    ) async throws {
        let change: Change = { tag, performs throws(TagError) in
            try await tag.open(opening)
            return try await work(tag, performs)
        }
        let plan: TagChangePlan
        var reader: String?
        switch try open(prompt) {
        case .image(let file):
            try file.checkTarget(out)
            let tag = file.makeTag()
            let first = try await change(try await ImageTagRunner(tag).tag, false)
            if first.changes.isEmpty {
                if let out { try file.save(tag, to: out) }
                return print(first, reader: nil)
            }
            try confirm(first, reader: nil)
            // The image is saved even if the tag refused a part of the plan.
            let result: Result<TagChangePlan, TagError>
            do throws(TagError) {
                result = .success(try await change(try await ImageTagRunner(tag).tag, true))
            } catch {
                result = .failure(error)
            }
            try file.save(tag, to: out)
            plan = try result.get()
        case .reader(let session):
            reader = session.readerName
            guard !yes else { return print(try await carryOut(change, on: session, done: done), reader: reader) }
            let first = try await session.withOneTag(doneMessage: "The tag was read. It is not changed yet.") {
                tag throws(TagError) in try await change(tag, false)
            }
            if first.changes.isEmpty { return print(first, reader: reader) }
            try confirm(first, reader: reader)
            guard case .reader(let second) = try open("Hold the same tag near the reader again.") else { return }
            plan = try await carryOut(change, on: second, done: done) { tag throws(TagError) in
                guard await TagChangePlan(tag).uid == first.uid else {
                    throw TagError(.unsupported, "This is another tag than the one of the plan. Nothing was changed.")
                }
            }
        }
        print(plan, reader: reader)
    }

    /// Carries out a change on a reader. If it does not end, the failure says that the tag may be changed in part.
    private func carryOut(
        _ change: @escaping Change,
        on session: TagSession,
        done: String,
        checking check: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Void = { _ in }
    ) async throws -> TagChangePlan {
        let hasBegun = Locked(false)
        do {
            return try await session.withOneTag(doneMessage: done) { tag throws(TagError) in
                try await check(tag)
                hasBegun.withLock { $0 = true }
                return try await change(tag, true)
            }
        } catch let failure as CommandFailure
            where hasBegun.withLock({ $0 })
            && ["cancelled", "tag-lost", "reader-lost", "timeout", "radio-disabled"].contains(failure.name)
        {
            let advice = "The tag may be changed in part: to complete it, run the same command again."
            throw CommandFailure(failure.status, failure.name, "\(failure.message) \(advice)").on(session.readerName)
        }
    }

    private func print(_ plan: TagChangePlan, reader: String?) {
        printResult(json: json, beside: out, ["ok": true] + plan.object(reader: reader), plan.lines(isDone: true))
    }

    /// Shows the plan and asks, unless `--yes` is given. Throws if the answer is no, or if nobody can be asked.
    private func confirm(_ plan: TagChangePlan, reader: String?) throws {
        guard !yes else { return }
        let message = "Nothing was changed. To carry out this plan, add --yes."
        if json {
            let failure: JSONObject = ["ok": false, "error": "not-confirmed", "message": message]
            (failure + plan.object(reader: reader)).print()
            throw ExitCode(CommandFailure.Status.refused.rawValue)
        }
        for line in plan.lines(isDone: false) { printLine(line, beside: out) }
        guard isatty(STDIN_FILENO) == 1 else { throw CommandFailure("not-confirmed", message) }
        StandardError.writeLine("Type yes to carry this out:")
        guard readLine() == "yes" else { throw CommandFailure("not-confirmed", "Nothing was changed.") }
    }
}
