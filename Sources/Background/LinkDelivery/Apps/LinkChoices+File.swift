// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

extension LinkChoices {
    /// The name of the file in the folder `nfc` of the configuration folder.
    private static var name: String { "browser-domains" }

    /// Reads the user's choices. Without a choice for a domain, its app opens the links.
    ///
    /// - Parameter folders: the user's folders.
    public init(of folders: UserFolders) {
        let octets = try? TrustedFile.read("\(folders.config)/nfc/\(Self.name)", limit: Self.maximumSize)
        self.init(parsing: octets ?? [])
    }

    /// Saves the choices.
    ///
    /// - Parameter folders: the user's folders.
    public func save(in folders: UserFolders) throws(StorageError) {
        try DirectoryStore(folders.config + "/nfc").replace(Self.name, with: file)
    }
}
