// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserActivityReceiving

/// Takes the links of cards for this instance of the app: one instance at a time is given them. One that the person sees takes
/// the place of one in the background.
@MainActor
final class LinkReceiver {
    /// Who is given the links.
    enum State: Equatable {
        case here
        /// Another instance; this one takes its place when it ends.
        case elsewhere
        /// Nobody, for a reason.
        case nobody(reason: String)
    }

    private let delegate: AppDelegate
    private let isVisible: Bool
    private(set) var state = State.nobody(reason: "The app has just started.")
    private var isAsking = false

    /// - Parameters:
    ///   - delegate: takes the links.
    ///   - isVisible: whether a person sees this instance.
    init(_ delegate: AppDelegate, isVisible: Bool = true) {
        self.delegate = delegate
        self.isVisible = isVisible
    }

    /// Takes links from now on, unless another instance does that the person sees.
    ///
    /// - Parameter onEnd: called on a thread of its own when no link can come any more.
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

    /// Takes the place of another instance when that has ended. Call it now and then.
    ///
    /// - Returns: whether this one takes the links from now on.
    func takeOver() async -> Bool {
        guard state == .elsewhere, !isAsking else { return false }
        isAsking = true
        defer { isAsking = false }
        // The bus may be slow: it is asked beside the main thread.
        let isTaken = await Task.detached { Application.isRunning(as: AppDelegate.desktopID) }.value
        guard !isTaken else { return false }
        begin()
        return state == .here
    }
}
