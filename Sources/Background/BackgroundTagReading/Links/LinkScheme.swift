// SPDX-License-Identifier: Apache-2.0

/// The purpose of a URI that is not a web link.
public enum LinkScheme: String, Sendable, Hashable, CaseIterable {
    /// Write a mail.
    case mail = "mailto"
    /// Write a text message.
    case textMessage = "sms"
    /// Make a call.
    case call = "tel"
    /// Make a FaceTime video call.
    case faceTime = "facetime"
    /// Make a FaceTime audio call.
    case faceTimeAudio = "facetime-audio"
    /// Show a place on a map: `geo:…` or `http://maps.apple.com/?…`. The raw value is the scheme of the desktop's maps
    /// apps.
    case map = "geo"
    /// Set up a HomeKit accessory with its code.
    case homeKit = "x-hm"

    /// Returns the purpose of a URI, by its scheme or, for maps, by its host.
    ///
    /// - Returns: nil for web links and for custom schemes.
    public init?(_ uri: TagURI) {
        if let host = uri.host {
            guard host == "maps.apple.com" else { return nil }
            self = .map
            return
        }
        guard let scheme = LinkScheme(rawValue: uri.scheme) else { return nil }
        self = scheme
    }

    /// Schemes that can't be an app's own: for desktop programs, the browser itself, and local and remote files.
    private static let reserved: Set<String> = [
        "about", "admin", "afc", "afp", "applications", "archive", "blob", "burn", "cdda", "chrome", "computer", "data",
        "dav", "davs", "dns-sd", "file", "fish", "ftp", "ftps", "geo", "gphoto2", "help", "http", "https", "javascript",
        "jar", "localtest", "man", "mtp", "network", "news", "nfs", "resource", "recent", "rdp", "rlogin", "sftp",
        "smb",
        "ssh", "starred", "telnet", "tftp", "trash", "urn", "vbscript", "view-source", "vnc", "ws", "wss",
    ]

    /// Returns whether a scheme can be an app's own.
    static func isCustom(_ scheme: String) -> Bool {
        !scheme.isEmpty && !reserved.contains(scheme) && LinkScheme(rawValue: scheme) == nil
            && TagURI("\(scheme):x") != nil
    }
}
