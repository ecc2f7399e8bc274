// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

extension LinkChoices {
    /// The name of the file in `nfc` of the folder for settings.
    private static var name: String { "browser-domains" }

    /// Reads the user's choices; the app for every domain when none was made.
    ///
    /// - Parameter folders: the user's folders.
    public init(of folders: UserFolders) {
        let octets = try? TrustedFile.read("\(folders.config)/nfc/\(Self.name)", limit: Self.maximumSize)
        self.init(parsing: octets ?? [])
    }

    /// Keeps the choices.
    ///
    /// - Parameter folders: the user's folders.
    public func save(in folders: UserFolders) throws(StorageError) {
        try DirectoryStore(folders.config + "/nfc").replace(Self.name, with: file)
    }
}
