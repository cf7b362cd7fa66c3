// What the gallery of a link says. A language is one object; `#` stands for a number or a date.
var linkTexts = {
  en: {
    photos: 'Photos', one: '1 photo', many: '# photos', until: 'until #', none: 'There are no photos here yet.', more: 'Show more',
    photo: 'Photo # of ', film: 'Film # of ', close: 'Close', previous: 'Previous', next: 'Next', save: 'Save',
    original: 'Save original', posterOnly: 'This film is shown as a picture only.',
    password: 'Password', locked: 'These photos have a password. The family that sent you the link knows it.', open: 'Show the photos',
    wrong: 'That is not the password.', wait: 'Too many wrong passwords. The next one is taken in # seconds.',
    unknown: 'There is no such link. See that the address is whole, or ask the family for a new one.',
    expired: 'This link has expired. Ask the family for a new one.',
    revoked: 'The family has ended this link. Ask them for a new one.',
    away: 'The machine with the photos does not answer. Try again in a little while.', again: 'Try again',
    unseen: 'This photo cannot be shown just now.'
  },
  de: {
    photos: 'Fotos', one: '1 Foto', many: '# Fotos', until: 'bis #', none: 'Hier sind noch keine Fotos.', more: 'Mehr zeigen',
    photo: 'Foto # von ', film: 'Film # von ', close: 'Schließen', previous: 'Zurück', next: 'Weiter', save: 'Speichern',
    original: 'Original speichern', posterOnly: 'Von diesem Film ist nur ein Bild zu sehen.',
    password: 'Passwort', locked: 'Diese Fotos haben ein Passwort. Die Familie, die dir den Link geschickt hat, kennt es.', open: 'Fotos zeigen',
    wrong: 'Das ist nicht das Passwort.', wait: 'Zu viele falsche Passwörter. Das nächste geht in # Sekunden.',
    unknown: 'Diesen Link gibt es nicht. Prüfe, ob die Adresse vollständig ist, oder bitte die Familie um einen neuen.',
    expired: 'Dieser Link ist abgelaufen. Bitte die Familie um einen neuen.',
    revoked: 'Die Familie hat diesen Link beendet. Bitte sie um einen neuen.',
    away: 'Der Rechner mit den Fotos antwortet nicht. Versuch es in einer Weile noch einmal.', again: 'Noch einmal versuchen',
    unseen: 'Dieses Foto lässt sich gerade nicht zeigen.'
  }
};
