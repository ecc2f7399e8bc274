// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserActivityReceiving

/// Receives the links of cards for this instance of the app. Only one instance at a time receives them. A visible instance
/// replaces one in the background.
@MainActor
final class LinkReceiver {
    /// The instance that receives the links.
    enum State: Equatable {
        case here
        /// Another instance; this one takes over when the other ends.
        case elsewhere
        /// No instance, for a reason.
        case nobody(reason: String)
    }

    private let delegate: AppDelegate
    private let isVisible: Bool
    private(set) var state = State.nobody(reason: "The app has just started.")
    private var isAsking = false

    /// - Parameters:
    ///   - delegate: receives the links.
    ///   - isVisible: whether a person sees this instance.
    init(_ delegate: AppDelegate, isVisible: Bool = true) {
        self.delegate = delegate
        self.isVisible = isVisible
    }

    /// Starts to receive links, unless another visible instance does.
    ///
    /// - Parameter onEnd: called on another thread when no more links can come.
    func begin(onEnd: @escaping @Sendable () -> Void = {}) {
        Application.shared.delegate = delegate
        do {
            try Application.shared.listen(
                as: AppDelegate.desktopID,
                presence: isVisible ? .visible : .background,
                onEnd: onEnd
            )
            state = .here
        } catch {
            let isElsewhere = Application.isRunning(as: AppDelegate.desktopID)
            state = isElsewhere ? .elsewhere : .nobody(reason: "\(error)")
        }
    }

    /// Takes over when the other instance has ended. Call it from time to time.
    ///
    /// - Returns: whether this instance receives the links from now on.
    func takeOver() async -> Bool {
        guard state == .elsewhere, !isAsking else { return false }
        isAsking = true
        defer { isAsking = false }
        // The bus may be slow, so it is not asked on the main thread.
        let isTaken = await Task.detached { Application.isRunning(as: AppDelegate.desktopID) }.value
        guard !isTaken else { return false }
        begin()
        return state == .here
    }
}
