// SPDX-License-Identifier: Apache-2.0

/// Facts about an app that the caller knows and that are not in its files.
public struct ProjectOptions: Sendable {
    /// Links of tags that are to open the app.
    public var links: [String]
    /// The app's identifier, with the team's prefix.
    public var app: String?
    /// What the app's objects are called.
    public var objects: [String]
    /// Names of products that may have words of the technology.
    public var products: [String]
    /// Images of tags that were handed over, by their paths.
    public var images: Set<String>

    /// What is known.
    public init(
        links: [String] = [],
        app: String? = nil,
        objects: [String] = [],
        products: [String] = [],
        images: Set<String> = []
    ) {
        self.links = links
        self.app = app
        self.objects = objects
        self.products = products
        self.images = images
    }
}
