// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A virtual reader whose tags are the images of a folder. While the folder is missing, the reader is unavailable.
final class FolderField: FieldDriver {
    /// The field with the folder's tags.
    let field = VirtualField()

    private struct State {
        /// Why the folder can't be used; nil while it exists.
        var problem: String?
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state = Locked(State())

    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }

    /// Stores whether the folder exists.
    ///
    /// - Parameter problem: what is missing and what to do, as a sentence; nil when the folder exists.
    func note(_ problem: String?) {
        let observers = state.withLock { state in
            defer { state.problem = problem }
            return state.problem == problem ? [] : Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }

    func prepare() async throws(LinkError) { try check() }

    /// - Throws: ``LinkError`` with `readerUnavailable` while the folder is missing.
    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if isOn { try check() }
        try await field.setCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let tags = field.observePresence(handler)
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = handler
            return state.lastObserver
        }
        return PresenceObservation { [state] in
            state.withLock { $0.observers[number] = nil }
            withExtendedLifetime(tags) {}
        }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }

    private func check() throws(LinkError) {
        if let problem = state.withLock({ $0.problem }) { throw LinkError(.readerUnavailable, problem) }
    }
}
