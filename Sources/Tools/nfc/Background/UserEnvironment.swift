// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport

/// The user's apps, inbox and association files.
struct UserEnvironment {
    let folders = UserFolders(environment: ProcessInfo.processInfo.environment)
    let deliverer = LinkDeliverer(environment: ProcessInfo.processInfo.environment)

    /// The seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// The installed apps.
    func apps() -> InstalledApps { InstalledApps(folders) }

    /// The cache of association files.
    func cache() throws(CommandFailure) -> LinkCache<PrivateFolder> {
        do throws(StorageError) {
            return try LinkCache(of: folders)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The inbox.
    func inbox() throws(CommandFailure) -> Inbox<PrivateFolder> {
        do throws(StorageError) {
            return try Inbox(of: folders)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The router that decides where links go now.
    func router(allowsCustomSchemes: Bool = false) throws(CommandFailure) -> LinkRouter {
        do throws(StorageError) {
            return try deliverer.router(allowsCustomSchemes: allowsCustomSchemes)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    convenience init(_ error: StorageError) {
        self.init(.refused, "storage", error.reason)
    }
}
