// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import LinuxSupport

/// Decides where links go, and opens them.
nonisolated struct Opener: Sendable {
    let folders: UserFolders
    private let deliverer: LinkDeliverer
    private let allowsCustomSchemes: Bool

    init(_ environment: [String: String], allowsCustomSchemes: Bool) {
        folders = UserFolders(environment: environment)
        deliverer = LinkDeliverer(environment: environment)
        self.allowsCustomSchemes = allowsCustomSchemes
    }

    /// The current routing of links.
    func router() throws(StorageError) -> LinkRouter {
        try deliverer.router(allowsCustomSchemes: allowsCustomSchemes)
    }

    /// Compiles new association files, so that ``router()`` is fast. This may take some time.
    func warmUp() {
        _ = try? router()
    }

    /// Opens a tag's link. It waits until that is done.
    ///
    /// - Returns: why it could not be opened; nil when it was opened.
    func open(_ delivery: Delivery, token: String?) -> String? {
        do throws(DeliveryError) {
            _ = try deliverer.deliver(delivery, activationToken: token)
            return nil
        } catch {
            return error.reason
        }
    }
}
