// SPDX-License-Identifier: Apache-2.0

/// Facts about an app that the caller knows, but that are not in its files.
public struct ProjectOptions: Sendable {
    /// The links on tags that should open the app.
    public var links: [String]
    /// The app's identifier, including the team prefix.
    public var app: String?
    /// The app's names for its tagged objects, such as "badge".
    public var objects: [String]
    /// Product names that may contain technical words.
    public var products: [String]
    /// The paths of the given tag images.
    public var images: Set<String>

    /// Creates options.
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
