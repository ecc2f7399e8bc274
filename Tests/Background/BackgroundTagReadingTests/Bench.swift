// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// A state machine with its own clock and names.
struct Bench {
    /// The tag that is read unless another one is named.
    static let tag: [UInt8] = [1, 2, 3, 4, 5, 6, 7]

    var reader: BackgroundReader
    var now = Duration.zero
    var count: UInt32 = 0

    init(custom: Bool = false) throws {
        reader = BackgroundReader(router: try Fixture.router(allowsCustomSchemes: custom))
        _ = reader.handle(.conditions(ReadingConditions()), now: now)
    }

    mutating func handle(_ input: BackgroundReader.Input) -> [BackgroundReader.Action] {
        reader.handle(input, now: now)
    }

    mutating func read(_ uri: String, tag: [UInt8] = Bench.tag) throws -> [BackgroundReader.Action] {
        try read(message: Fixture.message(uri), tag: tag)
    }

    mutating func read(message: [UInt8]?, tag: [UInt8] = Bench.tag) -> [BackgroundReader.Action] {
        count += 1
        let id = InboxEntry.ID(received: 1, number: count)
        return handle(.read(TagReading(identifier: tag, message: message), id))
    }

    var lastID: InboxEntry.ID { InboxEntry.ID(received: 1, number: count) }

    /// Reads a link from a new tag, and does not store it yet.
    mutating func readUnsaved(_ number: UInt8) throws -> InboxEntry.ID {
        guard case .store(let entry)? = try read(number, at: "example.org").first else {
            Issue.record("\(number) is not stored.")
            return lastID
        }
        return entry.id
    }

    private mutating func read(_ number: UInt8, at host: String) throws -> [BackgroundReader.Action] {
        try read("https://\(host)/buy/\(number)", tag: [number, 1, 2, 3, 4, 5, 6])
    }

    /// Reads a link from a new tag, and stores it.
    ///
    /// - Returns: the entry's name, and the actions.
    mutating func arrive(_ number: UInt8, at host: String = "example.org") throws -> Arrival {
        let actions = try read(number, at: host)
        guard case .store(let entry)? = actions.first else { return Arrival(id: lastID, actions: actions) }
        return Arrival(id: entry.id, actions: handle(.stored(entry.id, isKept: true)))
    }

    /// The result of an arrival.
    struct Arrival {
        var id: InboxEntry.ID
        var actions: [BackgroundReader.Action]
    }

    /// Brings tags that each have a notification, and reports that it is shown.
    mutating func arriveAndShow(_ numbers: ClosedRange<UInt8>) throws -> [InboxEntry.ID] {
        try numbers.map { number in
            let id = try arrive(number).id
            _ = handle(.announced(id))
            return id
        }
    }
}

extension [BackgroundReader.Action] {
    /// The entries that a summary counts, and its heading; nil when there is none.
    var summary: (ids: [InboxEntry.ID], title: String, body: String)? {
        for case .summarize(let ids, let content) in self { return (ids, content.title, content.body) }
        return nil
    }

    /// The entries that have their own notification.
    var announced: [InboxEntry.ID] {
        compactMap { if case .announce(let id, _) = $0 { id } else { nil } }
    }

    /// The entries that are opened after their marks have gone.
    var opened: [InboxEntry.ID] {
        var marks: Set<InboxEntry.ID> = []
        return compactMap { action in
            switch action {
            case .mark(let id, nil):
                marks.insert(id)
                return nil
            case .deliver(let id, _): return marks.contains(id) ? id : nil
            default: return nil
            }
        }
    }
}
