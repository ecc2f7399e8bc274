// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport

struct UserEnvironment {
    let folders = UserFolders(environment: ProcessInfo.processInfo.environment)
    let deliverer = LinkDeliverer(environment: ProcessInfo.processInfo.environment)

    /// The seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    func apps() -> InstalledApps { InstalledApps(folders) }

    func cache() throws(StorageError) -> LinkCache<PrivateFolder> { try LinkCache(of: folders) }

    func inbox() throws(StorageError) -> Inbox<PrivateFolder> { try Inbox(of: folders) }

    /// The router that decides where links go now.
    func router(allowsCustomSchemes: Bool = false) throws(StorageError) -> LinkRouter {
        try deliverer.router(allowsCustomSchemes: allowsCustomSchemes)
    }
}
