/// Whether a document's title can be that of a picture. Google's title is whole, and has signs that a file's name
/// cannot have; the file's name was cut to 47 UTF-16 units before the extension, and may have lost its capitals.
enum TitleFit {
    case same, similar, none

    init(_ picture: PictureName, _ title: FolderName) {
        let form = title.normalized
        let whole = title.folded.lowercased
        let (titleStem, titleExtension) = whole.parts
        let (stem, fileExtension) = picture.title.folded.lowercased.parts
        let isCut = stem.cut(toUTF16: TakeoutName.units - 1) != nil
        if form == picture.title.normalized || form == picture.name.normalized {
            self = .same
        } else if titleStem == stem, titleExtension == fileExtension {
            self = .similar
        } else if whole == stem || whole == picture.name.folded.lowercased {
            self = .similar
        } else if isCut, titleStem.bytes.starts(with: stem.bytes),
            titleExtension == fileExtension || titleExtension.bytes.isEmpty
        {
            self = .similar
        } else {
            self = .none
        }
    }
}
