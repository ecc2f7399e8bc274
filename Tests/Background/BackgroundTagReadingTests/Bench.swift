// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// A state machine with its own clock, which can be driven by a script.
///
/// A line of a script is an input, and behind `->` the expected actions; without them the actions are not checked.
/// Entries are named by numbers, in the order in which they are stored: `read 7` may answer `store 1`. Lists may have
/// ranges: `9-12`.
///
/// Tags: `1` has a fixed identifier and a link to `example.org/buy/1`; `r1` makes up its identifiers, and has that link
/// for every number. `1@2` has the link of the tag 2, and `1@tel:5` any link.
///
/// | input | meaning |
/// |---|---|
/// | `read T`, `arrive T`, `bring T` | a tag is read; and its entry saved; and its notification shown |
/// | `saved N`, `unsaved N`, `lost`, `again` | the disk took or refused an entry, lost all, can be tried again |
/// | `near T`, `app T` | the tags that a look has found, or that an app has read |
/// | `shown N`, `counted N`, `refused N` | the desktop shows a notification or summary, or refuses it |
/// | `dismiss N`, `expire N`, `click N`, `click sum` | the person or the desktop closes, the person clicks |
/// | `opened N`, `failed N`, `busy N`, `clear N` | the end of an opening; removed from the inbox |
/// | `restore N shown N counted N wanted N dismissed N new N` | a new run takes over entries |
/// | `on`, `off`, `lock`, `unlock`, `gone`, `ready`, `wait MS` | display, lock, desktop, time |
/// | `router app`, `router Fox` | links open in the app or in the browser Fox |
/// | `kept`, `stored`, `left N` | what the machine knows |
struct Bench {
    var reader: BackgroundReader
    var now = Duration.zero
    /// The number of the newest entry.
    private var count: UInt32 = 0

    init(custom: Bool = false) throws {
        reader = BackgroundReader(router: try Fixture.router(allowsCustomSchemes: custom))
        _ = reader.handle(.conditions(ReadingConditions()), now: now)
    }

    var lastID: InboxEntry.ID { Self.id(count) }

    static func id(_ number: UInt32) -> InboxEntry.ID { InboxEntry.ID(received: 1, number: number) }

    mutating func handle(_ input: BackgroundReader.Input) -> [BackgroundReader.Action] {
        reader.handle(input, now: now)
    }

    /// Reads a message from a tag that is not a link of the fixture.
    mutating func read(message: [UInt8]?, tag: [UInt8]) -> [BackgroundReader.Action] {
        let actions = handle(.read(TagReading(identifier: tag, message: message), Self.id(count + 1)))
        if actions.contains(where: { if case .store = $0 { true } else { false } }) || !actions.announced.isEmpty {
            count += 1
        }
        return actions
    }

    private mutating func read(_ tag: Substring) throws -> [BackgroundReader.Action] {
        let words = tag.split(separator: "@", maxSplits: 1)
        let link = words.count > 1 ? words[1] : words[0].first == "r" ? "1" : words[0]
        let uri = UInt8(link) == nil ? String(link) : "https://example.org/buy/\(link)"
        return read(message: try Fixture.message(uri), tag: try Self.identifier(tag))
    }

    static func identifier(_ tag: Substring) throws -> [UInt8] {
        let name = tag.prefix { $0 != "@" }
        let number = try #require(UInt8(name.drop { $0 == "r" }))
        return name.first == "r" ? [8, number, number, number] : [number, 1, 2, 3, 4, 5, 6]
    }

    // MARK: Scripts

    mutating func run(_ script: String, at place: SourceLocation = #_sourceLocation) throws {
        for line in script.split(separator: "\n") {
            let parts = line.split(separator: "->", maxSplits: 1).map { $0.split(separator: " ") }
            let result = try step(parts[0])
            guard parts.count > 1 else { continue }
            let expected = parts[1].joined(separator: " ")
            #expect(result == expected, "\(line)", sourceLocation: place)
        }
    }

    private mutating func step(_ words: [Substring]) throws -> String {
        let rest = words.dropFirst()
        switch words[0] {
        case "wait": now += .milliseconds(try #require(Int(rest[1])))
        case "kept": return Self.list(reader.keptEntries)
        case "stored": return Self.list(reader.storedEntries)
        case "left": return "\(reader.location(of: try Self.subject(rest[1])))"
        case "read", "arrive", "bring":
            var actions: [BackgroundReader.Action] = []
            for tag in Self.expanded(rest) {
                actions = try read(tag)
                guard words[0] != "read", actions.first.map({ if case .store = $0 { true } else { false } }) == true
                else { continue }
                actions = actions.dropFirst() + handle(.stored(lastID, isKept: true))
                if words[0] == "bring" { actions += handle(.announced(lastID)) }
            }
            return Self.text(actions)
        case "restore": return Self.text(try restore(rest))
        case "near": return Self.text(handle(.near(try rest.map(Self.identifier))))
        case "app": return Self.text(handle(.readByApp(try rest.map(Self.identifier))))
        case "counted": return Self.text(handle(.summarized(try Self.ids(rest))))
        default:
            if rest.isEmpty || ["router", "sum"].contains(rest[1]) || words[0] == "router" {
                return Self.text(handle(try input(words)))
            }
            return Self.text(try Self.expanded(rest).flatMap { handle(try input([words[0], $0])) })
        }
        return "nothing"
    }

    private func input(_ words: [Substring]) throws -> BackgroundReader.Input {
        switch words[0] {
        case "on": return .conditions(ReadingConditions())
        case "off": return .conditions(ReadingConditions(obstacles: [.displayOff]))
        case "lock": return .lock(isLocked: true)
        case "unlock": return .lock(isLocked: false)
        case "gone": return .desktopGone
        case "ready": return .desktopReady
        case "lost": return .inboxLost
        case "again": return .storeAgain
        case "router":
            return .router(
                words[1] == "app" ? try Fixture.router() : LinkRouter(browserNames: ["https": "\(words[1])"])
            )
        case "refused": return .notShown(try Self.subject(words[1]))
        case "dismiss": return .closed(try Self.subject(words[1]), isDismissed: true)
        case "expire": return .closed(try Self.subject(words[1]), isDismissed: false)
        case "click" where words[1] == "sum": return .summaryActivated
        default: break
        }
        let id = try Self.ids(words.dropFirst())[0]
        switch words[0] {
        case "saved": return .stored(id, isKept: true)
        case "unsaved": return .stored(id, isKept: false)
        case "shown": return .announced(id)
        case "click": return .activated(id)
        case "opened": return .delivered(id)
        case "failed": return .deliveryFailed(id, reason: "No app.")
        case "busy": return .beingOpened(id)
        default:
            try #require(words[0] == "clear", "\(words) is not an input.")
            return .cleared(id)
        }
    }

    private mutating func restore(_ words: ArraySlice<Substring>) throws -> [BackgroundReader.Action] {
        var lists: [Substring: [InboxEntry.ID]] = [:]
        var name: Substring = ""
        for word in words {
            if word.first?.isNumber == true { lists[name, default: []] += try Self.ids([word]) } else { name = word }
        }
        let entries = try lists["", default: []].map { id in
            let message = try Fixture.message("https://example.org/buy/\(id.number)")
            return InboxEntry(id: id, message: message, isAnnounced: lists["new"]?.contains(id) != true)
        }
        var marks: [InboxEntry.ID: DeliveryFlag] = [:]
        for id in lists["wanted", default: []] { marks[id] = .wanted }
        for id in lists["dismissed", default: []] { marks[id] = .dismissed }
        let run = PreviousRun(
            entries: entries,
            shown: Set(lists["shown", default: []]),
            summarized: Set(lists["counted", default: []]),
            marks: marks
        )
        reader = BackgroundReader(router: try Fixture.router())
        count = entries.map(\.id.number).max() ?? 0
        return handle(.restored(run))
    }

    private static func expanded(_ words: ArraySlice<Substring>) -> [Substring] {
        words.flatMap { word -> [Substring] in
            let ends = word.split(separator: "-").compactMap { Int($0) }
            return ends.count == 2 ? (ends[0]...ends[1]).map { Substring("\($0)") } : [word]
        }
    }

    private static func ids(_ words: ArraySlice<Substring>) throws -> [InboxEntry.ID] {
        try expanded(words).map { id(try #require(UInt32($0), "\($0)")) }
    }

    private static func subject(_ word: Substring) throws -> NotificationSubject {
        word == "sum" ? .summary : .entry(try ids([word])[0])
    }

    private static func list(_ ids: [InboxEntry.ID]) -> String {
        ids.isEmpty ? "nothing" : ids.map { "\($0.number)" }.joined(separator: " ")
    }

    /// The actions in the words of a script.
    static func text(_ actions: [BackgroundReader.Action]) -> String {
        actions.isEmpty ? "nothing" : actions.map(text).joined(separator: ", ")
    }

    private static func text(_ action: BackgroundReader.Action) -> String {
        switch action {
        case .startLooking: "start"
        case .stopLooking: "stop"
        case .store(let entry): entry.isAnnounced ? "store \(entry.id.number) again" : "store \(entry.id.number)"
        case .announce(let id, let content): "show \(id.number)\(text(content))"
        case .summarize(let ids, _): "sum \(list(ids))"
        case .markAnnounced(let id): "announced \(id.number)"
        case .withdraw(.entry(let id)): "hide \(id.number)"
        case .withdraw(.summary): "hide sum"
        case .mark(let id, let mark): "\(mark.map { "\($0)" } ?? "unmark") \(id.number)"
        case .requestUnlock: "ask"
        case .deliver(let id, .browser): "browse \(id.number)"
        case .deliver(let id, _): "open \(id.number)"
        case .remove(let id): "remove \(id.number)"
        case .note(.notKept(let id)): "note notKept \(id.number)"
        case .note(.kept(let id)): "note kept \(id.number)"
        case .note(.nothingToOpen(let id)): "note nothingToOpen \(id.number)"
        case .note(.notDelivered(let id)): "note notDelivered \(id.number)"
        case .note(.forgotten(let id)): "note forgotten \(id.number)"
        case .note(let note): "note \(note)"
        }
    }

    private static func text(_ content: NotificationContent) -> String {
        switch content {
        case .unusable: " unusable"
        case .beingOpened: " busy"
        case .notOpened(reason: "No app."): " failed"
        default: content.actionTitle == "Unlock" ? " locked" : content.body.hasSuffix("in Fox") ? " in Fox" : ""
        }
    }
}

extension [BackgroundReader.Action] {
    /// The words of a summary; nil when there is none.
    var summary: NotificationContent? {
        for case .summarize(_, let content) in self { return content }
        return nil
    }

    /// The entries that have their own notification.
    var announced: [InboxEntry.ID] {
        compactMap { if case .announce(let id, _) = $0 { id } else { nil } }
    }
}
