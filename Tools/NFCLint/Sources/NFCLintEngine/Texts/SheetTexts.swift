// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// Collects the texts that a module shows on the scanning sheet.
struct SheetTexts {
    private(set) var all: [SheetText] = []
    private var seen: Set<Key> = []

    private struct Key: Hashable {
        var place: Place
        var isError: Bool
    }

    init(index: ModuleIndex, sessions: Sessions, strings: StringTable) {
        let resolver = TextResolver(index: index, strings: strings)
        let places = SessionPlaces(sessions)
        for (number, function) in index.functions.enumerated() {
            for assignment in function.assignments
            where assignment.name == "alertMessage" && sessions.isSession(assignment.target.memberBase, number, index) {
                let role = Self.role(assignment, number, index, places)
                add(resolver.texts(assignment.value, in: number), role)
            }
            for call in function.calls where call.name == "invalidate" {
                // The base may be a wrapper of the session, but only where Core NFC is used.
                guard let message = call.argument("errorMessage"),
                    function.file.importsCoreNFC
                        || sessions.isSession(call.node.calledExpression.memberBase, number, index)
                else { continue }
                add(resolver.texts(message, in: number), .error)
            }
        }
    }

    /// The purpose of an alert message, such as an instruction at the start of a session.
    private static func role(
        _ assignment: AssignmentInfo,
        _ number: Int,
        _ index: ModuleIndex,
        _ places: SessionPlaces
    ) -> SheetText.Role {
        // Instructions can also be in callbacks, because a callback may begin the next session.
        let position = assignment.target.position
        let isBracketed =
            places.creations[number]?.contains { $0 < position } == true
            && places.begins[number]?.contains { $0 > position } == true
        guard isBracketed || !places.callbacks.contains(number) else { return .progress }
        let makes = index.reach(number, depth: 1).contains { places.creations[$0] != nil }
        let begins = makes || places.begins[number] != nil || places.activations.contains(number)
        return begins ? .instruction : .progress
    }

    private mutating func add(_ found: [TextResolver.Found], _ role: SheetText.Role) {
        for text in found where seen.insert(Key(place: text.place, isError: role == .error)).inserted {
            var sheet = SheetText(text: text.text, role: role, place: text.place, hasRawError: text.hasRawError)
            sheet.translations = text.translations
            all.append(sheet)
        }
    }
}

/// Where sessions are created, begun and handled, by function.
private struct SessionPlaces {
    var creations: [Int: [AbsolutePosition]]
    var begins: [Int: [AbsolutePosition]]
    var callbacks: Set<Int>
    var activations: Set<Int>

    init(_ sessions: Sessions) {
        creations = Dictionary(grouping: sessions.creations, by: \.function).mapValues { $0.map(\.call.node.position) }
        begins = Dictionary(grouping: sessions.begins, by: \.function).mapValues { $0.map(\.call.node.position) }
        callbacks = Set(sessions.delegates.flatMap { $0.tags + $0.messages + $0.invalidation })
        activations = Set(sessions.delegates.flatMap(\.activation))
    }
}
