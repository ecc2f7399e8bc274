// SPDX-License-Identifier: Apache-2.0
import NFCSessions

/// Objects of a run that have to be freed when it has ended: sessions, delegates and tags.
struct LivingObjects: Sendable {
    private final class Reference: @unchecked Sendable {
        weak let object: AnyObject?
        let name: String

        init(_ object: AnyObject, _ name: String) {
            self.object = object
            self.name = name
        }
    }

    private var references: [Reference] = []

    mutating func add(_ object: AnyObject, as kind: MadeObject) {
        let name =
            switch kind {
            case .session: "a session"
            case .delegate: "the delegate \(type(of: object))"
            case .tag: "a tag"
            }
        references.append(Reference(object, name))
    }

    var isEmpty: Bool { references.isEmpty }

    /// The objects that are still alive.
    var alive: LivingObjects {
        var alive = self
        alive.references.removeAll { $0.object == nil }
        return alive
    }

    /// The objects that `others` does not contain.
    func without(_ others: LivingObjects) -> LivingObjects {
        let known = Set(others.references.compactMap { $0.object.map { ObjectIdentifier($0) } })
        var rest = self
        rest.references.removeAll { reference in
            guard let object = reference.object else { return true }
            return known.contains(ObjectIdentifier(object))
        }
        return rest
    }

    /// The names of their types, each once.
    var names: [String] {
        references.map(\.name).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }
}

extension TestTracker {
    func made(_ object: AnyObject, as kind: MadeObject) {
        field?.state.withLock { state in
            state.made?.add(object, as: kind)
            if kind == .session { state.sessionsMade += 1 }
        }
    }
}
