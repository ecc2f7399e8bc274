// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

/// The service's marks of entries, on the disk: which ones the user wants to open after unlocking the screen, and which
/// ones the user has dismissed.
///
/// Marks are only valid until the system restarts, so that a link that the user wanted yesterday does not open today.
package struct DeliveryFlags<Store: FileStore>: Sendable {
    private static var name: String { "marks" }
    /// A line has less than 100 bytes.
    private static var limit: Int { 100 * BackgroundReader.maximumEntries }

    private var store: Store
    private let boot: String
    /// The valid marks.
    package private(set) var marks: [InboxEntry.ID: DeliveryFlag]
    /// Whether the marks on the disk are these. If not, the next call writes them, even if it changes none.
    private var isSaved = true

    /// Reads the marks. A damaged file counts as empty.
    ///
    /// - Parameters:
    ///   - store: the folder.
    ///   - boot: an identifier of this system start, without spaces; nil if there is none.
    package init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot ?? "-"
        marks = [:]
        let text = String(decoding: (try? store.read(Self.name, limit: Self.limit)) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let id = InboxEntry.ID(words[0]), let mark = DeliveryFlag(rawValue: words[1]),
                mark != .wanted || words[2] == self.boot
            else {
                continue
            }
            marks[id] = mark
        }
    }

    /// Saves a mark, replacing the entry's last one; nil removes it. When this returns, the change is on the disk.
    package mutating func keep(_ mark: DeliveryFlag?, of id: InboxEntry.ID) throws(StorageError) {
        guard marks[id] != mark || !isSaved else { return }
        marks[id] = mark
        try write()
    }

    /// Removes the marks of entries that are not in the inbox any more.
    ///
    /// - Parameter entries: the entries in the inbox.
    package mutating func keepOnly(_ entries: Set<InboxEntry.ID>) throws(StorageError) {
        let kept = marks.filter { entries.contains($0.key) }
        guard kept.count < marks.count || !isSaved else { return }
        marks = kept
        try write()
    }

    /// Writes the marks to another folder, which is used from now on.
    package mutating func move(to store: Store) throws(StorageError) {
        self.store = store
        if !marks.isEmpty { try write() }
    }

    private mutating func write() throws(StorageError) {
        isSaved = false
        let lines = marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.rawValue) \(boot)\n" }
        try store.replace(Self.name, with: Array(lines.joined().utf8))
        isSaved = true
    }
}
