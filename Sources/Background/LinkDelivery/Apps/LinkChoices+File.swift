// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

extension LinkChoices {
    /// The name of the file in the folder `nfc` of the configuration folder.
    private static var name: String { "browser-domains" }

    /// Reads the user's choices. Without a choice for a domain, its app opens the links.
    ///
    /// - Parameter folders: the user's folders.
    package init(of folders: UserFolders) {
        let bytes = try? TrustedFile.read("\(folders.config)/nfc/\(Self.name)", limit: Self.maximumSize)
        self.init(parsing: bytes ?? [])
    }

    /// Saves the choices.
    ///
    /// - Parameter folders: the user's folders.
    package func save(in folders: UserFolders) throws(StorageError) {
        try PrivateFolder(store: folders.config + "/nfc").replace(Self.name, with: file)
    }
}
