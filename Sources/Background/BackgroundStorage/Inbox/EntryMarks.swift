// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

/// What the service remembers of entries beside their messages, on the disk: which ones the person wants opened when the
/// screen is unlocked, and which the person has dismissed.
///
/// A wish counts until the system is started again: a link that somebody wanted yesterday does not open by itself today.
public struct EntryMarks<Store: FileStore>: Sendable {
    private static var name: String { "marks" }
    /// A line has less than 100 bytes.
    private static var limit: Int { 100 * BackgroundReader.maximumEntries }

    private var store: Store
    private let boot: String
    /// The marks that count.
    public private(set) var marks: [InboxEntry.ID: EntryMark]

    /// Reads what is remembered; nothing where the file is damaged.
    ///
    /// - Parameters:
    ///   - store: the folder.
    ///   - boot: the name of this start of the system, without blanks; nil where it has none.
    public init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot ?? "-"
        marks = [:]
        let text = String(decoding: (try? store.read(Self.name, limit: Self.limit)) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let id = InboxEntry.ID(words[0]), let mark = EntryMark(rawValue: words[1]),
                mark != .wanted || words[2] == self.boot
            else {
                continue
            }
            marks[id] = mark
        }
    }

    /// Keeps a mark in place of an entry's last one; nil keeps none. When this returns it is on the disk.
    public mutating func keep(_ mark: EntryMark?, of id: InboxEntry.ID) throws(StorageError) {
        guard marks[id] != mark else { return }
        marks[id] = mark
        try write()
    }

    /// Forgets the marks of entries that are not in the inbox any more.
    ///
    /// - Parameter entries: those that are.
    public mutating func keepOnly(_ entries: Set<InboxEntry.ID>) throws(StorageError) {
        let kept = marks.filter { entries.contains($0.key) }
        guard kept.count < marks.count else { return }
        marks = kept
        try write()
    }

    /// Writes the marks to another folder, where they are kept from now on.
    public mutating func move(to store: Store) throws(StorageError) {
        self.store = store
        if !marks.isEmpty { try write() }
    }

    private func write() throws(StorageError) {
        let lines = marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.rawValue) \(boot)\n" }
        try store.replace(Self.name, with: Array(lines.joined().utf8))
    }
}
