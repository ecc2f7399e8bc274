// SPDX-License-Identifier: Apache-2.0
import NDEF

/// What is said of links that wait.
extension NotificationContent {
    /// The most hosts that a summary names.
    static let maximumTargets = 3
    /// The longest name in a summary, in characters. Of a longer one the end is shown.
    static let maximumNameLength = 40

    /// Creates what is said of a link that the person wants while the screen is locked.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - router: decides where it goes.
    /// - Returns: nil when it goes nowhere.
    public init?(unlockingFor uri: TagURI, router: LinkRouter) {
        guard let content = NotificationContent(uri, router: router), content.actionTitle != nil else { return nil }
        self = content
        switch router.route(uri) {
        case .app, .browser: body = "Unlock to open “\(host ?? uri.scheme)”"
        case .system, .customScheme, .refused: body = "Unlock to \(body.prefix(1).lowercased())\(body.dropFirst())"
        }
        actionTitle = "Unlock"
    }

    /// Creates what is said of several links that wait.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - targets: what each is for, as far as that is known, the oldest first.
    init(waiting count: Int, targets: [String]) {
        var names: [String] = []
        for target in targets.reversed() where !names.contains(target) { names.append(target) }
        let shown = names.prefix(Self.maximumTargets).map { "“\($0)”" }.joined(separator: ", ")
        let isAll = names.count <= Self.maximumTargets
        self.init(
            title: count == 1 ? "1 link is waiting" : "\(count) links are waiting",
            body: isAll ? shown : shown + " and others",
            actionTitle: "Show",
            host: nil
        )
    }

    /// What the link of a message is for, in few characters: a host, a number, an address.
    static func target(of message: NDEFMessage) -> String? {
        guard case .uri(let uri) = LinkChoice(message) else { return nil }
        guard let host = uri.host else { return target(uri, limit: maximumNameLength) }
        return DisplayText.plain(host, limit: maximumNameLength, keeping: .tail)
    }
}
