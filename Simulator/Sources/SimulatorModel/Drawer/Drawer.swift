// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import TagImages
import VirtualTags

/// The drawer of tags: an ordered list, and the deleted tags for undo.
///
/// Writes no files. ``takeChanges()`` returns the file changes so far.
struct Drawer: Sendable {
    /// A change of a file in the drawer's folder.
    enum Change: Sendable, Hashable {
        /// Write the tag's file.
        case store(String)
        /// Remove the tag's file.
        case remove(String)
        /// Write the list of names.
        case list
    }

    private(set) var cards: [DrawerCard] = []
    private var deleted: [(card: DrawerCard, place: Int)] = []
    private var changes: [Change] = []
    /// The tags whose cards changed since the pages were updated.
    private(set) var touched: Set<String> = []

    var canUndo: Bool { !deleted.isEmpty }
    /// Whether there are changes to show or to save.
    var hasNews: Bool { !touched.isEmpty || !changes.isEmpty }

    subscript(id: String) -> DrawerCard? { cards.first { $0.id == id } }

    /// Finds a tag by its id, or by its name if the name is unique.
    ///
    /// - Parameter isPart: whether a part of the name is enough.
    func find(_ text: String?, orByPart isPart: Bool = false) throws(SimulatorFailure) -> DrawerCard {
        guard let text, !text.isEmpty else { throw .invalid("Name a tag: \"tag\" is its id or its name.") }
        if let card = self[text] { return card }
        let wanted = text.lowercased()
        var named = cards.filter { $0.name.lowercased() == wanted }
        if named.isEmpty, isPart { named = cards.filter { $0.name.lowercased().contains(wanted) } }
        guard named.count < 2 else {
            throw SimulatorFailure(
                "ambiguous-tag",
                "Several tags have this name, or a name that contains it. Use an id from \"list\"."
            )
        }
        guard let card = named.first else {
            throw SimulatorFailure("no-such-tag", "No tag has this id or name. \"list\" shows the tags.")
        }
        return card
    }

    /// Returns the file changes since the last call.
    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    /// Returns the tags to update on the pages since the last call.
    mutating func takeTouched() -> Set<String> {
        defer { touched = [] }
        return touched
    }

    private mutating func note(_ change: Change) {
        // Only the last change of each file matters.
        changes.removeAll { $0 == change }
        changes.append(change)
    }

    /// Changes a card.
    ///
    /// - Parameter isStored: whether the tag's file must be written.
    mutating func update(_ id: String, isStored: Bool = true, _ change: (inout DrawerCard) -> Void) {
        guard let index = cards.firstIndex(where: { $0.id == id }) else { return }
        change(&cards[index])
        touched.insert(id)
        if isStored { note(.store(id)) }
    }

    /// Refreshes the status of tags that readers have written.
    mutating func refresh() {
        for index in cards.indices where cards[index].isStale { cards[index].refresh() }
    }

    // MARK: Adding and removing

    /// Adds a tag loaded from the folder when the program started.
    mutating func restore(_ card: DrawerCard) {
        guard self[card.id] == nil, cards.count < Limits.tags else { return }
        cards.append(card)
        touched.insert(card.id)
    }

    /// Adds a tag.
    ///
    /// - Parameters:
    ///   - name: the tag's name; if nil, derived from the tag's product.
    ///   - image: the tag's contents.
    ///   - place: the index in the list; nil for the end.
    @discardableResult
    mutating func add(
        name: String?,
        _ image: TagImage,
        at place: Int? = nil
    ) throws(SimulatorFailure) -> DrawerCard {
        guard cards.count < Limits.tags else {
            throw SimulatorFailure("too-many-tags", "The drawer has \(Limits.tags) tags already. Delete some first.")
        }
        let name = try Self.name(name ?? image.product)
        let card = DrawerCard(id: freeID(for: name), name: name, image: image)
        cards.insert(card, at: min(place ?? cards.count, cards.count))
        touched.insert(card.id)
        note(.store(card.id))
        note(.list)
        return card
    }

    mutating func duplicate(_ card: DrawerCard) throws(SimulatorFailure) -> DrawerCard {
        let place = cards.firstIndex { $0.id == card.id }.map { $0 + 1 }
        let name = String(card.name.prefix(Limits.name - 5)) + " copy"
        var image = card.image
        image.contents = card.contents
        return try add(name: name, image, at: place)
    }

    mutating func rename(_ id: String, to text: String?) throws(SimulatorFailure) {
        guard let text else { throw .invalid("The new name is missing: \"name\".") }
        let name = try Self.name(text)
        update(id, isStored: false) { $0.name = name }
        note(.list)
    }

    mutating func delete(_ id: String) {
        guard let place = cards.firstIndex(where: { $0.id == id }) else { return }
        deleted.append((cards.remove(at: place), place))
        if deleted.count > Limits.undo { deleted.removeFirst() }
        touched.insert(id)
        note(.remove(id))
        note(.list)
    }

    /// Restores the tag that was deleted last.
    mutating func undoDelete() throws(SimulatorFailure) -> DrawerCard {
        guard let last = deleted.popLast() else {
            throw SimulatorFailure("nothing-to-undo", "No tag was deleted since the simulator started.")
        }
        guard cards.count < Limits.tags else {
            deleted.append(last)
            throw SimulatorFailure("too-many-tags", "The drawer has \(Limits.tags) tags already. Delete some first.")
        }
        var card = last.card
        if self[card.id] != nil { card = DrawerCard(id: freeID(for: card.name), name: card.name, image: card.image) }
        cards.insert(card, at: min(last.place, cards.count))
        touched.insert(card.id)
        note(.store(card.id))
        note(.list)
        return card
    }

    /// Removes all tags before the tags of an opened file are added.
    mutating func removeAll() {
        for card in cards {
            touched.insert(card.id)
            note(.remove(card.id))
        }
        cards = []
        deleted = []
        note(.list)
    }

    // MARK: Names

    /// Removes invisible characters from a name. Throws if nothing is left.
    static func name(_ text: String) throws(SimulatorFailure) -> String {
        let plain = DisplayText.plain(text, limit: Limits.name)
        guard plain.contains(where: { !$0.isWhitespace }) else {
            throw .invalid("A tag's name must have a visible character.")
        }
        return plain
    }

    /// A free id for a name: its letters and digits, with a number if the id is taken. The id is also the file's name,
    /// so other characters are not allowed.
    private func freeID(for name: String) -> String {
        let slug = Self.slug(name)
        guard self[slug] != nil else { return slug }
        var number = 2
        while self["\(slug)-\(number)"] != nil { number += 1 }
        return "\(slug)-\(number)"
    }

    /// The name as ASCII lower case letters and digits. Each run of other characters becomes one hyphen.
    static func slug(_ name: String) -> String {
        var slug = ""
        for character in name.lowercased().unicodeScalars.prefix(60) {
            switch character {
            case "a"..."z", "0"..."9": slug.unicodeScalars.append(character)
            default: if !slug.isEmpty, !slug.hasSuffix("-") { slug += "-" }
            }
        }
        while slug.hasSuffix("-") { slug.removeLast() }
        return slug.isEmpty ? "tag" : slug
    }
}
