// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import PrivateStorage

/// Where links go, and opening them.
nonisolated struct Opener: Sendable {
    let folders: UserFolders
    private let deliverer: LinkDeliverer
    private let allowsCustomSchemes: Bool

    init(_ environment: [String: String], allowsCustomSchemes: Bool) {
        folders = UserFolders(environment: environment)
        deliverer = LinkDeliverer(environment: environment)
        self.allowsCustomSchemes = allowsCustomSchemes
    }

    /// Where links go now.
    func router() throws(StorageError) -> LinkRouter {
        try deliverer.router(allowsCustomSchemes: allowsCustomSchemes)
    }

    /// Compiles the association files that are new, so that ``router()`` finds them ready. It may take some time.
    func warmUp() {
        _ = try? router()
    }

    /// Opens what a tag has. It waits.
    ///
    /// - Returns: why it could not be opened; nil when it is open.
    func open(_ delivery: Delivery, token: String?) -> String? {
        do throws(DeliveryError) {
            _ = try deliverer.deliver(delivery, activationToken: token)
            return nil
        } catch {
            return error.reason
        }
    }
}
