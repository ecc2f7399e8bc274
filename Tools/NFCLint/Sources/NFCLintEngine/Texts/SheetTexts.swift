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
        for (number, function) in index.functions.enumerated() {
            for assignment in function.assignments where assignment.name == "alertMessage" {
                let role = Self.role(assignment, number, index, sessions)
                add(resolver.texts(assignment.value, in: number), role)
            }
            for call in function.calls where call.name == "invalidate" {
                guard let message = call.argument("errorMessage") else { continue }
                add(resolver.texts(message, in: number), .error)
            }
        }
    }

    /// The purpose of an alert message, such as an instruction at the start of a session.
    private static func role(
        _ assignment: AssignmentInfo,
        _ number: Int,
        _ index: ModuleIndex,
        _ sessions: Sessions
    ) -> SheetText.Role {
        // Instructions can also be in callbacks, because a callback may begin the next session.
        let position = assignment.target.position
        let isBracketed =
            sessions.creations.contains { $0.function == number && $0.call.node.position < position }
            && sessions.begins.contains { $0.function == number && $0.call.node.position > position }
        let isCallback =
            !isBracketed
            && sessions.delegates.contains {
                ($0.tags + $0.messages + $0.invalidation).contains(number)
            }
        guard !isCallback else { return .progress }
        let makes = index.reach(number, depth: 1).contains { other in
            sessions.creations.contains { $0.function == other }
        }
        let begins =
            makes || sessions.begins.contains { $0.function == number }
            || sessions.delegates.contains { $0.activation.contains(number) }
        return begins ? .instruction : .progress
    }

    private mutating func add(_ found: [TextResolver.Found], _ role: SheetText.Role) {
        for text in found where seen.insert(Key(place: text.place, isError: role == .error)).inserted {
            all.append(SheetText(text: text.text, role: role, place: text.place, hasRawError: text.hasRawError))
        }
    }
}
