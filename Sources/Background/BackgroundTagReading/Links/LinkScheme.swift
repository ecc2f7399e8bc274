// SPDX-License-Identifier: Apache-2.0

/// What URIs other than web links are for.
public enum LinkScheme: String, Sendable, Hashable, CaseIterable {
    /// A mail to write.
    case mail = "mailto"
    /// A text message to write.
    case textMessage = "sms"
    /// A call.
    case call = "tel"
    /// A FaceTime video call.
    case faceTime = "facetime"
    /// A FaceTime audio call.
    case faceTimeAudio = "facetime-audio"
    /// A place on a map, `geo:…` or `http://maps.apple.com/?…`. The scheme is that of the desktop's apps for maps.
    case map = "geo"
    /// The set-up code of a HomeKit accessory.
    case homeKit = "x-hm"

    /// What a URI is for by its scheme or, for maps, its host.
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

    /// Schemes that never come from an app: programs of the desktop, the browser itself, and files near and far.
    private static let reserved: Set<String> = [
        "about", "admin", "afc", "afp", "applications", "archive", "blob", "burn", "cdda", "chrome", "computer", "data",
        "dav", "davs", "dns-sd", "file", "fish", "ftp", "ftps", "geo", "gphoto2", "help", "http", "https", "javascript",
        "jar", "localtest", "man", "mtp", "network", "news", "nfs", "resource", "recent", "rdp", "rlogin", "sftp",
        "smb",
        "ssh", "starred", "telnet", "tftp", "trash", "urn", "vbscript", "view-source", "vnc", "ws", "wss",
    ]

    /// Whether a scheme can be an app's own.
    static func isCustom(_ scheme: String) -> Bool {
        !scheme.isEmpty && !reserved.contains(scheme) && LinkScheme(rawValue: scheme) == nil
            && TagURI("\(scheme):x") != nil
    }
}
